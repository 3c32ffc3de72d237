import type { AppConversation } from '@parley/contract/conversations'
import { downloadTrajectory } from '@parley/contract/workspace'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { DropdownMenu } from 'radix-ui'
import { type FormEvent, useState } from 'react'
import { client, queries } from '../api.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'

const item = 'block w-full rounded px-3 py-2 text-left text-sm outline-none data-highlighted:bg-panel'

/** What is seldom done with a conversation. */
export function More({ of: one }: { of: AppConversation }) {
  const [asked, setAsked] = useState<'rename' | 'delete' | null>(null)
  const close = () => setAsked(null)
  return (
    <>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger aria-label="More" className={buttonClass('plain')}>
          ⋯
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content align="end" sideOffset={6} className="card z-10 min-w-48 p-1 shadow-lg">
            <DropdownMenu.Item className={item} onSelect={() => setAsked('rename')}>
              Rename
            </DropdownMenu.Item>
            <DropdownMenu.Item className={item} onSelect={() => void navigator.clipboard?.writeText(one.id)}>
              Copy id
            </DropdownMenu.Item>
            <DropdownMenu.Item asChild>
              <a className={item} href={downloadTrajectory.path.replace('{id}', one.id)} download>
                Download everything
              </a>
            </DropdownMenu.Item>
            <DropdownMenu.Item className={`${item} text-bad`} onSelect={() => setAsked('delete')}>
              Delete
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {asked === 'rename' && <Rename of={one} onClose={close} />}
      {asked === 'delete' && <Delete id={one.id} onClose={close} />}
    </>
  )
}

function Rename({ of: one, onClose }: { of: AppConversation; onClose: () => void }) {
  const save = useMutation({
    mutationFn: (title: string) => client.conversations.update({ params: { id: one.id }, body: { title } }),
    onSuccess: (changed) => {
      queries.setQueryData(['conversation', one.id], changed)
      onClose()
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    save.mutate(String(new FormData(event.currentTarget).get('title')))
  }
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <Field label="Title">
          {(tie) => (
            <input {...tie} className="field" name="title" defaultValue={one.title ?? ''} maxLength={200} required />
          )}
        </Field>
        <ErrorNote error={save.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function Delete({ id, onClose }: { id: string; onClose: () => void }) {
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => client.conversations.delete({ params: { id } }),
    onSuccess: async () => {
      await navigate({ to: '/conversations' })
      await queries.invalidateQueries({ queryKey: ['conversations'] })
    },
  })
  return (
    <Dialog title="Delete this conversation?" onClose={onClose}>
      <p>Its events go, and its sandbox when nobody else uses it. This cannot be undone.</p>
      <ErrorNote error={remove.error} />
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Keep</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
      </div>
    </Dialog>
  )
}
