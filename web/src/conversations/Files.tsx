import type { AppConversation } from '@parley/contract/conversations'
import { downloadFile, type WorkspaceFile } from '@parley/contract/workspace'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client, queries } from '../api.ts'
import { Ansi } from '../events/Ansi.tsx'
import { bytes } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Loading } from '../ui/Loading.tsx'
import { visible } from '../ui/visible.ts'
import { Unreachable } from './Unreachable.tsx'

const nameOf = (path: string): string => path.split('/').at(-1) ?? path

/** The files of the workspace: look, download, upload. */
export function Files({ of: one }: { of: AppConversation }) {
  const { id } = one
  const [folder, setFolder] = useState('.')
  const [file, setFile] = useState<string | null>(null)
  const found = useQuery({
    queryKey: ['files', id, folder],
    queryFn: () => client.conversations.files({ params: { id }, query: { path: folder } }),
  })
  const go = ({ path, kind }: WorkspaceFile) => (kind === 'folder' ? setFolder(path) : setFile(path))
  if (file !== null) return <View id={id} path={file} onClose={() => setFile(null)} />
  if (found.data === undefined && found.error !== null) return <Unreachable of={one} error={found.error} />
  return (
    <div>
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1.5">
        <Crumbs folder={folder} onGo={setFolder} />
        {one.sandbox_status === 'RUNNING' && <Upload id={id} folder={folder} />}
      </div>
      {found.isLoading && <Loading />}
      <ErrorNote error={found.error} />
      <ul className="p-1.5">
        {found.data?.files.map((file) => (
          <li key={file.path}>
            <button
              type="button"
              onClick={() => go(file)}
              className="flex min-h-9 w-full items-center gap-2 rounded-lg px-2 text-left text-sm hover:bg-panel"
            >
              <Icon name={file.kind === 'folder' ? 'folder' : 'file'} className="size-4 text-soft" />
              <span className="min-w-0 flex-1 truncate">
                {visible(nameOf(file.path))}
                {file.kind === 'folder' && '/'}
              </span>
              {file.kind === 'file' && <span className="text-xs text-soft tabular-nums">{bytes(file.size)}</span>}
            </button>
          </li>
        ))}
      </ul>
      {found.data?.files.length === 0 && <Empty icon="folder" text={t('files.empty')} />}
      {found.data?.truncated === true && <p className="px-4 pb-4 text-sm text-soft">{t('files.truncated')}</p>}
    </div>
  )
}

/** The way to the folder that is shown, each part of it to go back to. */
function Crumbs({ folder, onGo }: { folder: string; onGo: (folder: string) => void }) {
  const parts = folder === '.' ? [] : folder.split('/')
  const step = 'min-h-8 max-w-48 truncate rounded-md px-1.5 hover:bg-panel hover:text-ink aria-[current=true]:text-ink'
  return (
    <nav aria-label={t('files.way')} className="flex min-w-0 flex-1 flex-wrap items-center gap-0.5 text-sm text-soft">
      <button type="button" className={step} aria-current={folder === '.'} onClick={() => onGo('.')}>
        {t('files.root')}
      </button>
      {parts.map((part, index) => {
        const path = parts.slice(0, index + 1).join('/')
        return (
          <span key={path} className="flex items-center gap-0.5">
            <span aria-hidden>/</span>
            <button type="button" className={step} aria-current={path === folder} onClick={() => onGo(path)}>
              {visible(part)}
            </button>
          </span>
        )
      })}
    </nav>
  )
}

function View({ id, path, onClose }: { id: string; path: string; onClose: () => void }) {
  const found = useQuery({
    queryKey: ['file', id, path],
    queryFn: () => client.conversations.readFile({ params: { id }, query: { file_path: path } }),
  })
  const address = `${downloadFile.path.replace('{id}', id)}?${new URLSearchParams({ path })}`
  return (
    <section aria-label={path}>
      <div className="flex items-center gap-2 border-b border-line px-3 py-1.5">
        <Button kind="quiet" onClick={onClose}>
          <Icon name="left" />
          {t('chat.tab.files')}
        </Button>
        <code className="min-w-0 flex-1 truncate text-[0.8125rem]">{visible(path)}</code>
        <a className={buttonClass('quiet')} href={address} download>
          <Icon name="download" />
          {t('files.download')}
        </a>
      </div>
      {found.isLoading && <Loading />}
      <ErrorNote error={found.error} />
      {found.data !== undefined && <Ansi text={found.data.replaceAll('\u001b', '\u241b')} />}
    </section>
  )
}

function Upload({ id, folder }: { id: string; folder: string }) {
  const upload = useMutation({
    mutationFn: (files: FileList) => {
      const raw = new FormData()
      for (const file of files) raw.append('file', file)
      return client.conversations.uploadFiles({ params: { id }, query: { path: folder }, raw })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['files', id] }),
  })
  return (
    <>
      <label className={`${buttonClass('quiet')} focus-within:outline-2 focus-within:outline-accent`}>
        <Icon name="upload" />
        {t(upload.isPending ? 'files.uploading' : 'files.upload')}
        <input
          type="file"
          multiple
          className="sr-only"
          onChange={(event) => {
            if (event.target.files?.length) upload.mutate(event.target.files)
          }}
        />
      </label>
      <ErrorNote error={upload.error} />
    </>
  )
}
