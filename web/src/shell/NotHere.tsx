import { Link } from '@tanstack/react-router'
import { Page } from '../ui/Page.tsx'

export function NotHere() {
  return (
    <Page title="There is nothing here">
      <p>
        The address may be wrong, or what it named is gone.{' '}
        <Link to="/" className="text-accent underline">
          Go to the start
        </Link>
        .
      </p>
    </Page>
  )
}
