/*
 * The forms in which the value of a secret shows up in the output of programs. Line breaks are left out of every form: the
 * matcher steps over them, so a value that a tool has wrapped is found as well.
 */

/** Shorter values would hide half of any text. */
export const shortestSecret = 6

/** Every form of `value` worth hiding, each at least `shortestSecret` long; empty when the value itself is shorter. */
export function formsOf(value: string): string[] {
  if (withoutBreaks(value).length < shortestSecret) return []
  const bytes = Buffer.from(value)
  const forms = [
    value,
    ...jsonForms(value),
    ...urlForms(value),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Forms(bytes),
  ]
  return [...new Set(forms.map(withoutBreaks))].filter((form) => form.length >= shortestSecret)
}

const withoutBreaks = (text: string) => text.replace(/[\r\n]/g, '')

function jsonForms(value: string): string[] {
  const escaped = JSON.stringify(value).slice(1, -1)
  const ascii = escaped.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return [escaped, ascii, escaped.replaceAll('/', '\\/')]
}

function urlForms(value: string): string[] {
  const component = encodeURIComponent(value.toWellFormed())
  const strict = component.replace(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)
  const forms = [
    component,
    strict,
    component.replaceAll('%20', '+'),
    strict.replaceAll('%20', '+'),
    encodeURI(value.toWellFormed()),
  ]
  const lower = (form: string) => form.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
  return forms.flatMap((form) => [form, lower(form)])
}

/**
 * Inside a longer base64 text the value may begin at any of three positions of a group of three bytes; the characters that
 * also hold bits of its neighbours are left out, except at the end of the text, where the padding says what they are.
 */
function base64Forms(bytes: Buffer): string[] {
  const forms = [0, 1, 2].flatMap((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    const first = Math.ceil((offset * 8) / 6)
    const inside = padded.slice(first, Math.floor(((offset + bytes.length) * 8) / 6))
    const last = padded.slice(first)
    return [inside, last, last.replace(/=+$/, '')]
  })
  return forms.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
}
