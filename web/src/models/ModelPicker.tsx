import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { Picker } from '../ui/Picker.tsx'

/** Picks a model by name; a name that is not in the list can be typed. */
export function ModelPicker({
  value,
  none,
  onPick,
  isQuiet = false,
}: {
  value: string | null
  none: string
  onPick: (name: string | null) => void
  isQuiet?: boolean
}) {
  return (
    <Picker
      label={t('models.model')}
      icon="chip"
      isQuiet={isQuiet}
      value={value}
      none={none}
      takesText
      searchKey={['models']}
      search={async (query) => {
        const { items } = await client.models.search({ query: { query, limit: 50 } })
        return items.map(({ provider, name, verified }) => {
          const full = provider === null ? name : `${provider}/${name}`
          return { value: full, label: full, ...(verified ? { note: t('models.verified') } : {}) }
        })
      }}
      onPick={(choice) => onPick(choice?.value ?? null)}
    />
  )
}
