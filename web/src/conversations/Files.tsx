import { downloadFile, type WorkspaceFile } from '@parley/contract/workspace'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client, queries } from '../api.ts'
import { Ansi } from '../events/Ansi.tsx'
import { Button, buttonClass } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Loading } from '../ui/Loading.tsx'
import { visible } from '../ui/visible.ts'

const parent = (path: string): string => path.split('/').slice(0, -1).join('/') || '.'
const nameOf = (path: string): string => path.split('/').at(-1) ?? path
const sizes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 1 })

/** The files of the workspace: look, download, upload. */
export function Files({ id }: { id: string }) {
  const [folder, setFolder] = useState('.')
  const [file, setFile] = useState<string | null>(null)
  const found = useQuery({
    queryKey: ['files', id, folder],
    queryFn: () => client.conversations.files({ params: { id }, query: { path: folder } }),
  })
  const go = ({ path, kind }: WorkspaceFile) => (kind === 'folder' ? setFolder(path) : setFile(path))
  if (file !== null) return <View id={id} path={file} onClose={() => setFile(null)} />
  return (
    <div>
      <div className="flex flex-wrap items-center gap-2 border-b border-line p-2">
        {folder !== '.' && (
          <Button kind="quiet" onClick={() => setFolder(parent(folder))}>
            ↑ Up
          </Button>
        )}
        <code className="min-w-0 flex-1 truncate px-2 text-sm">{visible(folder)}</code>
        <Upload id={id} folder={folder} />
      </div>
      {found.isLoading && <Loading what="the folder" />}
      <ErrorNote error={found.error} />
      <ul className="p-2">
        {found.data?.files.map((one) => (
          <li key={one.path}>
            <button
              type="button"
              onClick={() => go(one)}
              className="flex min-h-9 w-full items-center gap-2 rounded-lg px-2 text-left text-sm hover:bg-panel"
            >
              <span aria-hidden>{one.kind === 'folder' ? '▸' : '·'}</span>
              <span className="min-w-0 flex-1 truncate">
                {visible(nameOf(one.path))}
                {one.kind === 'folder' && '/'}
              </span>
              {one.kind === 'file' && <span className="text-soft">{sizes.format(one.size / 1000)}</span>}
            </button>
          </li>
        ))}
      </ul>
      {found.data?.files.length === 0 && <p className="px-4 text-soft">The folder is empty.</p>}
      {found.data?.truncated === true && (
        <p className="px-4 text-sm text-soft">There are more; these are the first 1,000.</p>
      )}
    </div>
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
      <div className="flex items-center gap-2 border-b border-line p-2">
        <Button kind="quiet" onClick={onClose}>
          ← Files
        </Button>
        <code className="min-w-0 flex-1 truncate text-sm">{visible(path)}</code>
        <a className={buttonClass('plain')} href={address} download>
          Download
        </a>
      </div>
      {found.isLoading && <Loading what="the file" />}
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
      <label className={`${buttonClass('plain')} focus-within:outline-2 focus-within:outline-accent`}>
        {upload.isPending ? 'Uploading …' : 'Upload'}
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
