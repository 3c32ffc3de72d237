import { Icon, type IconName } from './Icon.tsx'

interface IconButtonProps {
  icon: IconName
  /** Read to those who do not see the icon, and shown under the pointer of those who do. */
  label: string
  className?: string
  onClick: () => void
}

/** A square with a picture and no words, for the frame of the page. */
export const IconButton = ({ icon, label, className = '', onClick }: IconButtonProps) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    className={`grid size-8 place-items-center rounded-lg text-soft hover:bg-panel hover:text-ink ${className}`}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
)
