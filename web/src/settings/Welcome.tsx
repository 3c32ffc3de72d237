import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { accounts } from '../git/accounts.ts'
import { GitHosts } from '../git/GitHosts.tsx'
import { t } from '../i18n/translate.ts'
import { Button } from '../ui/Button.tsx'
import { Page } from '../ui/Page.tsx'
import { ModelForm } from './ModelForm.tsx'
import { demoModel } from './settings.ts'

const steps = ['model', 'git', 'start'] as const
type Step = (typeof steps)[number]

/** After the first sign-in: a model or the demo, a Git host or none, and off. */
export function Welcome() {
  const [step, go] = useState<Step>('model')
  return (
    <Page title={t('welcome.title')}>
      <ol className="mb-6 flex flex-wrap gap-x-2 gap-y-1" aria-label={t('welcome.steps')}>
        {steps.map((one, index) => (
          <li
            key={one}
            aria-current={one === step ? 'step' : undefined}
            className="flex items-center gap-2 text-sm text-soft aria-[current=step]:font-semibold aria-[current=step]:text-ink"
          >
            {index > 0 && <span aria-hidden className="h-px w-6 bg-edge" />}
            <span
              className={`grid size-6 place-items-center rounded-full text-xs ${one === step ? 'bg-accent text-accent-ink' : 'bg-panel'}`}
            >
              {steps.indexOf(step) > index ? '✓' : index + 1}
            </span>
            {t(`welcome.step.${one}`)}
          </li>
        ))}
      </ol>
      {step === 'model' && <ChooseModel onDone={() => go('git')} />}
      {step === 'git' && <ConnectHost onDone={() => go('start')} onBack={() => go('model')} />}
      {step === 'start' && <Ready onBack={() => go('git')} />}
    </Page>
  )
}

const ChooseModel = ({ onDone }: { onDone: () => void }) => (
  <>
    <p className="mb-4 max-w-prose text-soft">{t('welcome.model')}</p>
    <ModelForm onSaved={onDone} />
    <div className="card flex flex-wrap items-center gap-3 p-4 sm:p-5">
      <div className="min-w-0 flex-1 basis-60">
        <h2 className="font-semibold">{t('welcome.demo')}</h2>
        <p className="text-sm text-soft">{t('welcome.demo.about', { model: demoModel })}</p>
      </div>
      <Button onClick={onDone}>{t('welcome.demo.use')}</Button>
    </div>
  </>
)

function ConnectHost({ onDone, onBack }: { onDone: () => void; onBack: () => void }) {
  const connected = useQuery(accounts)
  const isConnected = (connected.data?.length ?? 0) > 0
  return (
    <>
      <p className="mb-4 max-w-prose text-soft">{t('welcome.git')}</p>
      <GitHosts />
      <div className="flex gap-2">
        <Button kind={isConnected ? 'primary' : 'plain'} onClick={onDone}>
          {isConnected ? t('welcome.next') : t('welcome.skip')}
        </Button>
        <Button kind="quiet" onClick={onBack}>
          {t('welcome.back')}
        </Button>
      </div>
    </>
  )
}

function Ready({ onBack }: { onBack: () => void }) {
  const navigate = useNavigate()
  return (
    <div className="card grid gap-4 p-5">
      <h2 className="text-lg font-semibold">{t('welcome.ready')}</h2>
      <p className="max-w-prose">{t('welcome.ready.about')}</p>
      <div className="flex gap-2">
        <Button kind="primary" onClick={() => void navigate({ to: '/' })}>
          {t('welcome.start')}
        </Button>
        <Button kind="quiet" onClick={onBack}>
          {t('welcome.back')}
        </Button>
      </div>
    </div>
  )
}
