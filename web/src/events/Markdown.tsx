import { defaultRehypePlugins, defaultRemarkPlugins, Streamdown } from 'streamdown'
import { t } from '../i18n/translate.ts'
import { visible } from '../ui/visible.ts'

/*
 * What a model wrote. HTML in it is shown as the text it is; images are not loaded from anywhere, since an address can
 * carry away what the model has read; links lead to http and https only.
 */

interface Node {
  type: string
  value?: string
  children?: Node[]
}

const htmlAsText = () => (tree: Node) => {
  const walk = (node: Node) => {
    if (node.type === 'html') node.type = 'text'
    node.children?.forEach(walk)
  }
  walk(tree)
}

const { sanitize } = defaultRehypePlugins
const rehype = sanitize === undefined ? [] : [sanitize]
const remark = [...Object.values(defaultRemarkPlugins), htmlAsText]

const isWeb = (address: string) => URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)

const components = {
  a: ({ href, children }: { href?: unknown; children?: React.ReactNode }) =>
    typeof href === 'string' && isWeb(href) ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ src, alt }: { src?: unknown; alt?: unknown }) => (
    <span className="text-soft">
      {typeof src === 'string' && isWeb(src) ? t('chat.image-at', { address: src }) : t('chat.image')}
      {typeof alt === 'string' && alt !== '' && ` ${alt}`}
    </span>
  ),
}

export function Markdown({ text, isWriting = false }: { text: string; isWriting?: boolean }) {
  return (
    <Streamdown
      className="prose"
      mode={isWriting ? 'streaming' : 'static'}
      remarkPlugins={remark}
      rehypePlugins={rehype}
      components={components}
      controls={{ code: { copy: true, download: false }, table: false, mermaid: false }}
      linkSafety={{ enabled: false }}
      lineNumbers={false}
    >
      {visible(text)}
    </Streamdown>
  )
}
