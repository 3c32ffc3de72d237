import type { ReactNode } from 'react'
import { Icon, type IconName } from './Icon.tsx'

/** A place where nothing is yet, and what would fill it. */
export function Empty({ icon, text, children }: { icon: IconName; text: string; children?: ReactNode }) {
  return (
    <div className="grid justify-items-center gap-3 px-6 py-14 text-center">
      <span className="grid size-11 place-items-center rounded-full bg-panel text-soft">
        <Icon name={icon} className="size-5" />
      </span>
      <p className="max-w-sm text-sm text-soft">{text}</p>
      {children}
    </div>
  )
}
