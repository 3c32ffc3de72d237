import { type ReactNode, useEffect } from 'react'

/** A page that reads from top to bottom: its title, what one can do with it, and its content. */
export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  useTitle(title)
  return (
    <div className="mx-auto w-full max-w-4xl p-4 sm:p-6">
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <h1 className="text-xl font-semibold">{title}</h1>
        {actions}
      </div>
      {children}
    </div>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === 'Parley' ? title : `${title} · Parley`
  }, [title])
}
