import { useState } from 'react'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Section } from '../ui/Section.tsx'

/** Whether this browser may show notices over other windows. It is the browser that asks and remembers. */
export function BrowserNotices() {
  const [allowed, setAllowed] = useState(() => ('Notification' in window ? Notification.permission : 'denied'))
  return (
    <Section title={t('notices.title')} about={t('notices.about')}>
      {allowed === 'default' ? (
        <div>
          <Button onClick={() => void Notification.requestPermission().then(setAllowed)}>{t('notices.allow')}</Button>
        </div>
      ) : (
        <p className={`text-sm ${allowed === 'granted' ? 'text-good' : 'text-soft'}`}>
          {allowed === 'granted' ? t('notices.on') : t('notices.off')}
        </p>
      )}
    </Section>
  )
}
