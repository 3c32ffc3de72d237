/** An address that we do not dial, or an answer that we do not read. `message` is safe to show. */
export class OutboundRefused extends Error {
  override name = 'OutboundRefused'
  readonly reason: 'address' | 'url' | 'redirect' | 'too_large' | 'not_http'

  constructor(reason: OutboundRefused['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}
