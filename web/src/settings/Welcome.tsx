import { Link } from '@tanstack/react-router'
import { GitHosts } from '../git/GitHosts.tsx'
import { buttonClass } from '../ui/Button.tsx'
import { Page } from '../ui/Page.tsx'
import { ModelForm } from './ModelForm.tsx'

/** After the first sign-in: a model, a Git host, and off. Both can wait. */
export function Welcome() {
  return (
    <Page title="Welcome to Parley">
      <p className="mb-4 text-soft">
        Two things make it yours. Both can be done later in the settings; the demo model needs neither.
      </p>
      <ModelForm />
      <GitHosts />
      <Link to="/" className={buttonClass('primary')}>
        Start
      </Link>
    </Page>
  )
}
