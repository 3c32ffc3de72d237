import { useRouter } from '@tanstack/react-router'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Page } from '../ui/Page.tsx'

/** A page that could not be drawn. */
export function PageError({ error }: { error: unknown }) {
  const router = useRouter()
  return (
    <Page title={t('shell.not-shown')}>
      <ErrorNote error={error}>
        <Button className="mt-2" onClick={() => void router.invalidate()}>
          {t('ui.retry')}
        </Button>
      </ErrorNote>
    </Page>
  )
}
