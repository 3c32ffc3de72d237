interface SegmentsProps<T extends string> {
  /** What is chosen by it. */
  label: string
  value: T
  choices: readonly { value: T; label: string }[]
  onChoose: (value: T) => void
}

/** One of a few, all of them in sight. */
export function Segments<T extends string>({ label, value, choices, onChoose }: SegmentsProps<T>) {
  return (
    <div role="group" aria-label={label} className="inline-flex rounded-lg bg-panel p-0.5">
      {choices.map((one) => (
        <button
          key={one.value}
          type="button"
          aria-pressed={one.value === value}
          onClick={() => onChoose(one.value)}
          className="min-h-8 rounded-md px-2.5 text-sm text-soft hover:text-ink aria-pressed:bg-raised aria-pressed:font-medium aria-pressed:text-ink aria-pressed:shadow-sm"
        >
          {one.label}
        </button>
      ))}
    </div>
  )
}
