import type { ReactNode } from 'react'

/** What stands in front of the house: a small card in the middle. */
export function Gate({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="grid min-h-full place-items-center bg-panel p-4">
      <div className="card grid w-full max-w-sm gap-4 p-6">
        <div className="flex items-center gap-2">
          <img src="/favicon.svg" alt="" className="size-8" />
          <span className="text-lg font-semibold">Parley</span>
        </div>
        <h1 className="text-xl font-semibold">{title}</h1>
        {children}
      </div>
    </main>
  )
}
