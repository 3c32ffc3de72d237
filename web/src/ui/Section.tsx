import { type ReactNode, useId } from 'react'

/** A titled part of a page. */
export function Section({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id} className="card mb-4 p-4 sm:p-5">
      <h2 id={id} className="font-semibold">
        {title}
      </h2>
      {about !== undefined && <p className="text-sm text-soft">{about}</p>}
      <div className="mt-3 grid gap-3">{children}</div>
    </section>
  )
}
