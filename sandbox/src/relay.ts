/*
 * A byte stream from our side of an engine's exec to a port inside: its standard streams, and one of the programs of this
 * table, whichever the image has. Each says `connected` on its error output before the first byte of the stream.
 */
import { Duplex } from 'node:stream'
import type { Command, Process } from './driver.ts'

const perl = `use IO::Socket::INET;
my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0], Timeout => 10) or exit 1;
syswrite(STDERR, "connected\\n");
sub all { my ($to, $b) = @_; for (my $o = 0; $o < length $b;) { $o += syswrite($to, $b, length($b) - $o, $o) // return 0 } 1 }
my $in = fork;
if (!$in) { my $b; while (sysread(STDIN, $b, 65536)) { all($s, $b) or last } shutdown($s, 1); exit }
my $b; while (sysread($s, $b, 65536)) { all(\\*STDOUT, $b) or last }
kill "KILL", $in;`

const python = `import os, socket, sys, threading
s = socket.create_connection(("localhost", int(sys.argv[1])), 10); s.settimeout(None)
os.write(2, b"connected\\n")
def send():
    while True:
        b = os.read(0, 65536)
        if not b: break
        s.sendall(b)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=send, daemon=True).start()
while True:
    b = s.recv(65536)
    if not b: os._exit(0)
    while b: b = b[os.write(1, b):]`

/** `$1` is the port, `$2` the same as the system's lists of sockets have it. What listens on ::1 alone is reached there. */
const script = `has() { command -v "$1" >/dev/null 2>&1; }
at=TCP4:127.0.0.1
if grep -q "01000000:$2 " /proc/net/tcp6 2>/dev/null && ! grep -q ":$2 00000000:0000 0A" /proc/net/tcp; then at='TCP6:[::1]'; fi
if has socat; then exec socat -d -d -T 3600 STDIO "$at:$1,connect-timeout=10"
elif has python3; then exec python3 -c "$PYTHON" "$1"
elif has perl; then exec perl -e "$PERL" "$1"
elif has nc; then nc -z 127.0.0.1 "$1" || exit 1; echo connected >&2; exec nc 127.0.0.1 "$1"
fi
echo 'there is none of socat, python3, perl, nc' >&2; exit 127`

const connected = /starting data transfer loop|^connected$/m

/** The command whose standard streams are the connection. */
export const relayCommand = (port: number): Command => ({
  argv: ['/bin/sh', '-c', script, 'sh', String(port), port.toString(16).toUpperCase().padStart(4, '0')],
  env: { PERL: perl, PYTHON: python },
  cwd: '/',
})

/** Resolves once something inside has taken the connection; rejects when nothing listens there. */
export async function connectOver(spawn: (command: Command) => Process, port: number): Promise<Duplex> {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Error(`not a port: ${port}`)
  const process = spawn(relayCommand(port))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let said = ''
  const listen = (text: string) => {
    said = (said + text).slice(-4000)
    if (!connected.test(said)) return
    process.stderr.off('data', listen).resume()
    resolve()
  }
  process.stderr.setEncoding('utf8').on('data', listen)
  void process.ended.then(({ code }) =>
    reject(new Error(code === 127 ? said.trim() : `nothing answers on port ${port} of the sandbox`)),
  )
  await promise
  const stream = Duplex.from({ readable: process.stdout, writable: process.stdin }) as Duplex
  stream.on('error', () => undefined) // a reader that cares listens for it too
  stream.on('end', () => stream.end()) // what has closed its side takes nothing more either
  stream.on('close', () => void process.kill(0))
  return stream
}
