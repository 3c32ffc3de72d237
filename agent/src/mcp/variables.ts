/** `${NAME}` and `${NAME:-default}` in every text of `value`, filled from `values`; a name without a value stays as it is. */
export function filled<T>(value: T, values: Readonly<Record<string, string>>): T {
  if (typeof value === 'string') return filledText(value, values) as T
  if (Array.isArray(value)) return value.map((one: unknown) => filled(one, values)) as T
  if (value === null || typeof value !== 'object') return value
  // The same shape with other texts.
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one as unknown, values)])) as T
}

const filledText = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (whole, name: string, otherwise?: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : (otherwise ?? whole),
  )
