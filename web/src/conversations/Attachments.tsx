import type { Content } from '@parley/contract/content'
import { useRef, useState } from 'react'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'

/* Pictures that go with a message, as `data:` addresses. */

export interface Images {
  list: readonly string[]
  add: (images: readonly string[]) => void
  remove: (image: string) => void
  clear: () => void
}

const kinds = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** The service takes so many, and so many characters of each. */
const most = 20
const longest = 12_000_000

export function useImages(): Images {
  const [list, setList] = useState<readonly string[]>([])
  return {
    list,
    add: (images) => setList((before) => [...new Set([...before, ...images])].slice(0, most)),
    remove: (image) => setList((before) => before.filter((one) => one !== image)),
    clear: () => setList([]),
  }
}

/** The files that are pictures and not too large, read. */
export async function imagesIn(files: Iterable<File>): Promise<string[]> {
  const read = await Promise.all([...files].filter(({ type }) => kinds.includes(type)).map(addressOf))
  return read.filter((address) => address.length <= longest)
}

const addressOf = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the file cannot be read')))
    reader.readAsDataURL(file)
  })

/** A message of a text and pictures. */
export function contentOf(text: string, images: readonly string[]): Content[] {
  const said: Content[] = text.trim() === '' ? [] : [{ type: 'text', text, cache_prompt: false }]
  return images.length === 0 ? said : [...said, { type: 'image', image_urls: [...images], cache_prompt: false }]
}

export function Attach({ onAdd }: { onAdd: (images: readonly string[]) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept={kinds.join(',')}
        multiple
        hidden
        data-testid="attach"
        onChange={({ target }) => {
          void imagesIn(target.files ?? []).then(onAdd)
          target.value = ''
        }}
      />
      <Button kind="quiet" className="px-2!" title={t('composer.attach')} onClick={() => input.current?.click()}>
        <Icon name="clip" />
        <span className="sr-only">{t('composer.attach')}</span>
      </Button>
    </>
  )
}

export function Attached({ images }: { images: Images }) {
  if (images.list.length === 0) return null
  return (
    <ul aria-label={t('composer.attached')} className="flex flex-wrap gap-2 px-3 pt-1">
      {images.list.map((image, index) => (
        <li key={image} className="relative">
          <img
            src={image}
            alt={t('composer.picture', { number: index + 1 })}
            className="size-16 rounded-lg object-cover"
          />
          <button
            type="button"
            aria-label={t('composer.remove', { number: index + 1 })}
            onClick={() => images.remove(image)}
            className="absolute -top-1.5 -right-1.5 grid size-6 place-items-center rounded-full border border-edge bg-raised text-sm"
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}
