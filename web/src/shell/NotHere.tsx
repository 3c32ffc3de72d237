import { Link } from '@tanstack/react-router'
import { t } from '../i18n/translate.ts'
import { Page } from '../ui/Page.tsx'

export function NotHere() {
  return (
    <Page title={t('shell.nothing-here')}>
      <p>
        {t('shell.nothing-here.about')}{' '}
        <Link to="/" className="text-accent underline">
          {t('shell.go-home')}
        </Link>
      </p>
    </Page>
  )
}
