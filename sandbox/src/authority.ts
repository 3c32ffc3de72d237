/*
 * A certificate authority for one sandbox, which nobody else trusts: with it the way out opens encrypted requests into which
 * it has to put a secret. Its key is made in memory, never leaves it and dies with the sandbox. Just enough of X.509 (RFC
 * 5280) and DER for two kinds of certificate is written here; reading and judging them is left to TLS.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'

export interface Authority {
  /** Its certificate, PEM. */
  readonly certificate: string
  /** What a server of this host shows. Made once for each host. */
  contextFor(host: string): SecureContext
}

const dayMs = 86_400_000
const mostHosts = 500

const tlv = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts)
  const size = body.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: Buffer[]) => tlv(0x30, ...parts)
const octets = (part: Buffer) => tlv(0x04, part)
const bits = (part: Buffer, unused = 0) => tlv(0x03, Buffer.from([unused]), part)
const integer = (bytes: Buffer) => tlv(0x02, bytes)
const yes = tlv(0x01, Buffer.from([0xff]))
const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'))
const time = (at: number) => tlv(0x18, Buffer.from(`${new Date(at).toISOString().replace(/[-:T]|\.\d+/g, '')}`))
const name = (text: string) => sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(text)))))
const extension = (id: string, value: Buffer, critical = false) =>
  sequence(oid(id), ...(critical ? [yes] : []), octets(value))

const ecdsaSha256 = sequence(oid('2a8648ce3d040302'))
const subjectKey = '551d0e'
const keyUsage = '551d0f'
const otherNames = '551d11'
const constraints = '551d13'
const issuerKey = '551d23'
const extendedUsage = '551d25'
const serverAuth = oid('2b06010505070301')

interface Wanted {
  subject: string
  issuer: string
  key: KeyObject
  signedWith: KeyObject
  days: number
  extensions: Buffer[]
}

function certificate({ subject, issuer, key, signedWith, days, extensions }: Wanted): string {
  const now = Date.now()
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40 // positive, and of full length
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaSha256,
    name(issuer),
    sequence(time(now - dayMs), time(now + days * dayMs)),
    name(subject),
    key.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  )
  const der = sequence(body, ecdsaSha256, bits(sign('sha256', body, signedWith)))
  const lines = der.toString('base64').replace(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

const keyId = (key: KeyObject) =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20)

export function openAuthority(subject: string): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = keyId(own.publicKey)
  const root = certificate({
    subject,
    issuer: subject,
    key: own.publicKey,
    signedWith: own.privateKey,
    days: 3650,
    extensions: [
      extension(constraints, sequence(yes), true),
      extension(keyUsage, bits(Buffer.from([0x06]), 1), true),
      extension(subjectKey, octets(id)),
    ],
  })
  const contexts = new Map<string, SecureContext>()
  const contextFor = (host: string): SecureContext => {
    const known = contexts.get(host)
    if (known !== undefined) return known
    const cert = certificate({
      subject: 'Parley',
      issuer: subject,
      key: leaf.publicKey,
      signedWith: own.privateKey,
      days: 3650,
      extensions: [
        extension(keyUsage, bits(Buffer.from([0x80]), 7), true),
        extension(extendedUsage, sequence(serverAuth)),
        extension(otherNames, sequence(alternative(host))),
        extension(issuerKey, sequence(tlv(0x80, id))),
      ],
    })
    const key = leaf.privateKey.export({ type: 'pkcs8', format: 'pem' })
    const context = createSecureContext({ key, cert: `${cert}${root}`, minVersion: 'TLSv1.2' })
    if (contexts.size < mostHosts) contexts.set(host, context)
    return context
  }
  return { certificate: root, contextFor }
}

const alternative = (host: string) =>
  isIP(host) === 4 ? tlv(0x87, Buffer.from(host.split('.').map(Number))) : tlv(0x82, Buffer.from(host))

let usual: string | undefined

/** Everybody that this machine trusts, PEM: programs that are given one more to trust forget all others. */
export const trustedByMachine = (): string =>
  (usual ??= [...new Set([...getCACertificates('bundled'), ...getCACertificates('system')])].join('\n'))
