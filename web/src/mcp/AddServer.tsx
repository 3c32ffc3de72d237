import type { McpConfig, McpTestRequest } from '@parley/contract/mcp-config'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useRef, useState } from 'react'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { argumentsIn, type Kind, variablesIn, withAddress, withProgram } from './entries.ts'
import { Outcome } from './Outcome.tsx'

const kinds = ['shttp', 'sse', 'stdio'] as const

interface AddServerProps {
  config: McpConfig
  onSave: (config: McpConfig) => Promise<unknown>
  onClose: () => void
}

export function AddServer({ config, onSave, onClose }: AddServerProps) {
  const [kind, setKind] = useState<Kind>('shttp')
  const form = useRef<HTMLFormElement>(null)
  const text = (name: string) => String(new FormData(form.current ?? undefined).get(name) ?? '')
  const address = (): McpTestRequest => ({
    kind: kind === 'sse' ? 'sse' : 'shttp',
    url: text('url').trim(),
    api_key: text('key') || null,
  })
  const program = () => ({
    name: text('name').trim(),
    command: text('command').trim(),
    args: argumentsIn(text('args')),
    env: variablesIn(text('env')),
  })
  const tried = useMutation({ mutationFn: () => client.settings.testMcp({ body: address() }) })
  const save = useMutation({
    mutationFn: () => onSave(kind === 'stdio' ? withProgram(config, program()) : withAddress(config, address())),
    onSuccess: onClose,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <Dialog title={t('mcp.add')} onClose={onClose}>
      <form ref={form} onSubmit={submit} onChange={() => tried.reset()} className="grid gap-4">
        <Field label={t('mcp.kind')}>
          {(tie) => (
            <select
              {...tie}
              className="field chosen"
              value={kind}
              onChange={({ target }) => setKind(target.value as Kind)}
            >
              {kinds.map((one) => (
                <option key={one} value={one}>
                  {t(`mcp.kind.${one}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
        {kind === 'stdio' ? <Program /> : <Address />}
        <Outcome tried={tried.data} error={tried.error} isPending={tried.isPending} />
        <ErrorNote error={save.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          {kind !== 'stdio' && (
            <Button busy={tried.isPending} onClick={() => form.current?.reportValidity() === true && tried.mutate()}>
              {t('mcp.test')}
            </Button>
          )}
          <Button type="submit" kind="primary" busy={save.isPending}>
            {t('mcp.add.do')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

const Address = () => (
  <>
    <Field label={t('mcp.url')}>
      {(tie) => (
        <input
          {...tie}
          className="field"
          name="url"
          type="url"
          required
          maxLength={2048}
          placeholder="https://host/mcp"
        />
      )}
    </Field>
    <Field label={t('mcp.key')} hint={t('mcp.key.hint', { example: '${NAME}' })}>
      {(tie) => <input {...tie} className="field" name="key" type="password" autoComplete="off" maxLength={4096} />}
    </Field>
  </>
)

const Program = () => (
  <>
    <Field label={t('mcp.name')} hint={t('mcp.name.hint')}>
      {(tie) => <input {...tie} className="field" name="name" pattern="[A-Za-z0-9_\-]+" required maxLength={64} />}
    </Field>
    <Field label={t('mcp.command')} hint={t('mcp.command.hint')}>
      {(tie) => <input {...tie} className="field font-mono" name="command" required maxLength={4096} />}
    </Field>
    <Field label={t('mcp.args')} hint={t('mcp.args.hint')}>
      {(tie) => <textarea {...tie} className="field font-mono" name="args" rows={2} />}
    </Field>
    <Field label={t('mcp.env')} hint={t('mcp.env.hint')}>
      {(tie) => <textarea {...tie} className="field font-mono" name="env" rows={2} autoComplete="off" />}
    </Field>
  </>
)
