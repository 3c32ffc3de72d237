import type { GitProvider } from '@parley/contract/git-provider'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { client } from '../api.ts'
import { t } from '../i18n/translate.ts'
import { buttonClass } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Picker } from '../ui/Picker.tsx'
import { accounts, hostLabel } from './accounts.ts'

export interface Chosen {
  provider: GitProvider
  repository: string
  branch: string | null
}

/** Picks a repository of the connected hosts and a branch of it. Without a host: the way to connect one. */
export function RepositoryPicker({ value, onPick }: { value: Chosen | null; onPick: (chosen: Chosen | null) => void }) {
  const connected = useQuery(accounts)
  if (connected.data === undefined) return null
  if (connected.data.length === 0)
    return (
      <Link to="/settings/$section" params={{ section: 'git' }} className={buttonClass('quiet', 'px-2!')}>
        <Icon name="branch" />
        {t('git.connect-one')}
      </Link>
    )
  const providers = connected.data.map((account) => account.git_provider)
  return (
    <>
      <Picker
        isQuiet
        icon="folder"
        label={t('git.repository')}
        value={value?.repository ?? null}
        none={t('git.repository.none')}
        searchKey={['git', 'repositories', providers]}
        search={(words) => repositories(providers, words)}
        onPick={(choice) => onPick(choice === null ? null : chosenOf(choice.value))}
      />
      {value !== null && (
        <Picker
          isQuiet
          icon="branch"
          label={t('git.branch')}
          value={value.branch}
          none={t('git.branch.none')}
          searchKey={['git', 'branches', value.provider, value.repository]}
          search={async (query) => {
            const { provider, repository } = value
            const { items } = await client.git.branches({ query: { provider, repository, query } })
            return items.map(({ name }) => ({ value: name, label: name }))
          }}
          onPick={(choice) => onPick({ ...value, branch: choice?.value ?? null })}
        />
      )}
    </>
  )
}

/** All hosts at once; one that fails does not hide what the others have. */
async function repositories(providers: GitProvider[], words: string) {
  const query = words === '' ? {} : { query: words }
  const all = await Promise.allSettled(
    providers.map((provider) => client.git.repositories({ query: { provider, limit: 30, ...query } })),
  )
  const found = all.flatMap((one) => (one.status === 'fulfilled' ? one.value.items : []))
  const failed = all.find((one) => one.status === 'rejected')
  if (found.length === 0 && failed !== undefined) throw failed.reason
  return found.map(({ git_provider, full_name }) => ({
    value: `${git_provider} ${full_name}`,
    label: full_name,
    note: hostLabel(git_provider),
  }))
}

function chosenOf(value: string): Chosen {
  const space = value.indexOf(' ')
  return { provider: value.slice(0, space) as GitProvider, repository: value.slice(space + 1), branch: null }
}
