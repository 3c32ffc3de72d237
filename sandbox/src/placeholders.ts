/** A text that stands for a value which the sandbox must not have. */
export interface Put {
  placeholder: string
  value: string
}

/** The text with the values in it. */
export const filled = (text: string, put: readonly Put[]): string =>
  put.reduce((so, { placeholder, value }) => so.replaceAll(placeholder, value), text)

/**
 * Header values (names and values in turn) with the values in them, also inside `Basic` credentials. Rejects a value that no
 * header can carry.
 */
export function filledHeaders(headers: readonly string[], put: readonly Put[]): string[] {
  if (put.length === 0) return [...headers]
  return headers.map((text, at) => {
    if (at % 2 === 0) return text
    const said = filled(inBasic(text, put), put)
    // oxlint-disable-next-line no-control-regex
    if (said !== text && /[\u0000-\u0008\u000a-\u001f\u007f]/.test(said))
      throw new Error('a secret with line breaks fits no header')
    return said
  })
}

function inBasic(text: string, put: readonly Put[]): string {
  const [, scheme, coded] = /^(basic\s+)([\w+/=-]+)$/i.exec(text) ?? []
  if (coded === undefined) return text
  const plain = Buffer.from(coded, 'base64').toString()
  const said = filled(plain, put)
  return said === plain ? text : `${scheme}${Buffer.from(said).toString('base64')}`
}

/** A path and its query with the values in it, coded as a query has them. */
export const filledPath = (path: string, put: readonly Put[]): string =>
  filled(
    path,
    put.map(({ placeholder, value }) => ({ placeholder, value: encodeURIComponent(value) })),
  )
