import type { Invitation, Person } from '@parley/contract/people'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { client, queries } from '../api.ts'
import { day } from '../i18n/format.ts'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { DeleteButton } from '../ui/DeleteButton.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { ErrorNote } from '../ui/ErrorNote.tsx'
import { Field } from '../ui/Field.tsx'
import { Loading } from '../ui/Loading.tsx'
import { Section } from '../ui/Section.tsx'
import { ShownOnce } from '../ui/ShownOnce.tsx'
import { Time } from '../ui/Time.tsx'
import { visible } from '../ui/visible.ts'
import { me } from './me.ts'

const peopleKey = ['people']
const invitationsKey = ['invitations']
const refresh = () =>
  Promise.all([peopleKey, invitationsKey, me.queryKey].map((queryKey) => queries.invalidateQueries({ queryKey })))

const nameOf = ({ name, email }: { name: string | null; email: string | null }) =>
  visible(name ?? email ?? t('people.unnamed'))

/** For the owner: who is here, who is invited, and letting people in and go. */
export function People() {
  const found = useQuery({ queryKey: peopleKey, queryFn: () => client.users.list() })
  return (
    <>
      <Section title={t('settings.people')} about={t('people.about')}>
        <ErrorNote error={found.error} />
        {found.isLoading && <Loading />}
        <ul className="divide-y divide-line">
          {found.data?.map((one) => (
            <Row key={one.id} of={one} />
          ))}
        </ul>
      </Section>
      <Invite />
      <Invitations />
    </>
  )
}

function Row({ of: one }: { of: Person }) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3">
      <span
        aria-hidden
        className="grid size-9 place-items-center rounded-full bg-tint text-sm font-semibold text-accent uppercase"
      >
        {nameOf(one).slice(0, 1)}
      </span>
      <div className="min-w-0 flex-1 basis-48">
        <p className="truncate font-medium">{nameOf(one)}</p>
        <p className="truncate text-sm text-soft">
          {one.name !== null && one.email !== null && `${visible(one.email)} · `}
          {t(`users.role.${one.role}`)} ·{' '}
          {one.last_seen_at === null ? (
            t('people.never-seen')
          ) : (
            <>
              {t('people.seen')} <Time at={one.last_seen_at} />
            </>
          )}
        </p>
      </div>
      {one.role === 'member' && (
        <>
          <HandOver to={one} />
          <DeleteButton
            what={nameOf(one)}
            warning={t('people.remove.warning')}
            onDelete={() => client.users.remove({ params: { id: one.id } }).then(refresh)}
          />
        </>
      )}
    </li>
  )
}

function HandOver({ to }: { to: Person }) {
  const [asks, setAsks] = useState(false)
  const change = useMutation({
    mutationFn: () => client.users.change({ params: { id: to.id }, body: { role: 'owner' } }),
    onSuccess: async () => {
      setAsks(false)
      await refresh()
    },
  })
  return (
    <>
      <Button onClick={() => setAsks(true)}>{t('people.make-owner')}</Button>
      {asks && (
        <Dialog title={t('people.make-owner.ask', { name: nameOf(to) })} onClose={() => setAsks(false)}>
          <p className="mb-3">{t('people.make-owner.warning')}</p>
          <ErrorNote error={change.error} />
          <div className="mt-4 flex justify-end gap-2">
            <Button onClick={() => setAsks(false)}>{t('ui.cancel')}</Button>
            <Button kind="danger" busy={change.isPending} onClick={() => change.mutate()}>
              {t('people.make-owner')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function Invite() {
  const invite = useMutation({
    mutationFn: (email: string) => client.users.createInvitation({ body: { email } }),
    onSuccess: refresh,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    invite.mutate(String(new FormData(form).get('email')).trim(), { onSuccess: () => form.reset() })
  }
  return (
    <Section title={t('people.invite')} about={t('people.invite.about')}>
      <form onSubmit={submit} className="grid gap-3">
        <Field label={t('users.email')}>
          {(tie) => <input {...tie} className="field" name="email" type="email" required maxLength={254} />}
        </Field>
        <ErrorNote error={invite.error} />
        <div>
          <Button type="submit" kind="primary" busy={invite.isPending}>
            {t('people.invite.do')}
          </Button>
        </div>
      </form>
      {invite.data !== undefined && (
        <Dialog title={t('people.link')} onClose={() => invite.reset()}>
          <ShownOnce
            text={invite.data.link}
            about={t('people.link.about', { email: invite.data.email })}
            onClose={() => invite.reset()}
          />
        </Dialog>
      )}
    </Section>
  )
}

function Invitations() {
  const found = useQuery({ queryKey: invitationsKey, queryFn: () => client.users.listInvitations() })
  const open = found.data?.filter(({ accepted_at }) => accepted_at === null) ?? []
  if (open.length === 0) return <ErrorNote error={found.error} />
  return (
    <Section title={t('people.invited')}>
      <ul className="divide-y divide-line">
        {open.map((one) => (
          <Open key={one.id} of={one} />
        ))}
      </ul>
    </Section>
  )
}

const Open = ({ of: one }: { of: Invitation }) => (
  <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2">
    <span className="wrap-anywhere">{visible(one.email)}</span>
    <span className="text-sm text-soft">
      {Date.parse(one.expires_at) < Date.now() ? t('people.expired') : t('people.until', { day: day(one.expires_at) })}
    </span>
    <span className="ml-auto">
      <DeleteButton
        what={t('people.invitation-of', { email: visible(one.email) })}
        warning={t('people.withdraw.warning')}
        onDelete={() => client.users.deleteInvitation({ params: { id: one.id } }).then(refresh)}
      />
    </span>
  </li>
)
