import type { AppConversation } from '@parley/contract/conversations'
import { useMutation } from '@tanstack/react-query'
import { client, queries } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'

/** Lets strangers read the conversation, or stops that. */
export function Share({ of: one, onClose }: { of: AppConversation; onClose: () => void }) {
  const share = useMutation({
    mutationFn: (isPublic: boolean) =>
      client.conversations.update({ params: { id: one.id }, body: { public: isPublic } }),
    onSuccess: (changed) => queries.setQueryData(['conversation', one.id], changed),
  })
  const address = `${location.origin}/shared/${one.id}`
  return (
    <Dialog title={t('share.title')} onClose={onClose}>
      <div className="grid gap-4">
        <p>{t('share.about')}</p>
        <label className="flex min-h-9 items-center gap-2">
          <input
            type="checkbox"
            checked={share.isPending ? share.variables : one.public === true}
            disabled={share.isPending}
            onChange={(event) => share.mutate(event.target.checked)}
          />
          {t('share.on')}
        </label>
        {one.public === true && (
          <Field label={t('share.link')}>
            {(tie) => (
              <div className="flex flex-wrap gap-2">
                <input
                  {...tie}
                  className="field w-auto min-w-40 flex-1"
                  readOnly
                  value={address}
                  onFocus={(event) => event.target.select()}
                />
                <CopyButton text={address} look={buttonClass('plain')} />
                <a className={buttonClass('plain')} href={address} target="_blank" rel="noopener">
                  {t('share.open')}
                </a>
              </div>
            )}
          </Field>
        )}
        <ErrorNote error={share.error} />
        <div className="flex justify-end">
          <Button onClick={onClose}>{t('ui.done')}</Button>
        </div>
      </div>
    </Dialog>
  )
}
