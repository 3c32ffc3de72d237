import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/*
 * Which addresses are the Internet's, and which lead back into somebody's own house. Everything that is not global unicast
 * is refused; so is every IPv6 address that carries an IPv4 address inside, whatever that one is, as a gateway may unwrap it.
 */

/** Networks that the library calls unicast although no server of the Internet lives there. */
const further = new BlockList()
further.addSubnet('192.0.0.0', 24, 'ipv4')
further.addSubnet('192.88.99.0', 24, 'ipv4')
further.addSubnet('198.18.0.0', 15, 'ipv4')
further.addSubnet('192.31.196.0', 24, 'ipv4')
further.addSubnet('192.52.193.0', 24, 'ipv4')
further.addSubnet('192.175.48.0', 24, 'ipv4')
further.addSubnet('::', 96, 'ipv6')
further.addSubnet('64:ff9b::', 96, 'ipv6')
further.addSubnet('64:ff9b:1::', 48, 'ipv6')
further.addSubnet('100::', 64, 'ipv6')
further.addSubnet('2001::', 23, 'ipv6')
further.addSubnet('2002::', 16, 'ipv6')
further.addSubnet('2620:4f:8000::', 48, 'ipv6')
further.addSubnet('3fff::', 20, 'ipv6')
further.addSubnet('5f00::', 16, 'ipv6')
further.addSubnet('fec0::', 10, 'ipv6')

/** ISATAP interface ids, which carry an IPv4 address in their last 32 bits. */
const isIsatap = (parts: readonly number[]) => (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe

/** Why an address (as text, without brackets) is not to be dialled; undefined when it is the Internet's. */
export function whyRefused(address: string): string | undefined {
  const family = isIP(address)
  if (family === 0 || !ipaddr.isValid(address)) return 'it is not an address'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (range !== 'unicast') return `it is ${range}`
  if (further.check(parsed.toString(), family === 4 ? 'ipv4' : 'ipv6')) return 'it is reserved'
  if (parsed instanceof ipaddr.IPv6) {
    // Global unicast is 2000::/3; what lies outside is not assigned.
    if (((parsed.parts[0] ?? 0) & 0xe000) !== 0x2000) return 'it is not global unicast'
    if (isIsatap(parsed.parts)) return 'it has an IPv4 address inside'
  }
  return undefined
}
