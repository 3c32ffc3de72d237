import { t } from '../i18n/translate.ts'

/** Shown only when something takes long enough to notice, so that a fast page does not flicker. */
export function Loading() {
  return (
    <p role="status" className="animate-[appear_0.3s_0.4s_both] p-4 text-soft">
      {t('ui.loading')}
    </p>
  )
}
