/*
 * What must hold inside every sandbox, as shell scripts that print nothing when it does. The doctor runs them in a
 * canary at boot, the conformance suite in every kind of sandbox.
 */
export interface Probe {
  name: string
  /** Prints what is wrong. `$1` is a host's loopback port, `$2` a file of the host that nobody else may read. */
  script: string
  /** Does not hold in pods: they have a network, with policies around it, and see what their node's runtime shows of the kernel. */
  exceptInPods?: true
}

const status = (field: string, wanted: string) =>
  `v=$(grep "^${field}:" /proc/self/status | tr -d '\\t '); [ "$v" = "${field}:${wanted}" ] || echo "$v"`
const none = '0000000000000000'

export const probes: readonly Probe[] = [
  { name: 'no effective capability', script: status('CapEff', none) },
  { name: 'no permitted capability', script: status('CapPrm', none) },
  { name: 'no inheritable capability', script: status('CapInh', none) },
  { name: 'no ambient capability', script: status('CapAmb', none) },
  { name: 'no new privileges', script: status('NoNewPrivs', '1') },
  { name: 'not root', script: '[ "$(id -u)" != 0 ] || echo "uid 0"' },
  { name: 'no further user namespace', script: 'unshare -Ur true 2>/dev/null && echo "unshare -Ur works"' },
  { name: 'no new mount', script: 'mount -t tmpfs x /tmp 2>/dev/null && echo "mount works"' },
  { name: 'no remount', script: 'mount -o remount,rw / 2>/dev/null && echo "remount works"' },
  { name: 'no change of host name', script: 'hostname x 2>/dev/null && echo "hostname works"' },
  { name: 'the root is read-only', script: 'touch /x 2>/dev/null && echo "/x written"' },
  { name: '/usr is read-only', script: 'touch /usr/x 2>/dev/null && echo "/usr/x written"' },
  { name: '/etc is read-only', script: 'touch /etc/x 2>/dev/null && echo "/etc/x written"' },
  { name: 'no shadow file', script: '[ -r /etc/shadow ] && echo "/etc/shadow can be read"' },
  { name: "no file of the host's users", script: 'cat "$2" 2>/dev/null && echo "$2 was read"' },
  { name: 'no home of root', script: '[ -z "$(ls -A /root 2>/dev/null)" ] || echo "/root is there"' },
  { name: 'no home but its own', script: '[ "$(ls /home | wc -l)" -le 1 ] || ls /home' },
  { name: 'no /sys', exceptInPods: true, script: '[ -e /sys/kernel ] && echo "/sys is there"' },
  {
    name: '/sys is read-only',
    script: 'for f in /sys/x /sys/kernel/x /sys/fs/cgroup/x; do touch "$f" 2>/dev/null && echo "$f written"; done',
  },
  {
    name: 'no processes of the host',
    script: `[ "$(ls /proc | grep -c '^[0-9]')" -lt 40 ] || echo "$(ls /proc | grep -c '^[0-9]') processes"`,
  },
  {
    name: 'no kernel settings',
    script:
      'for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger; do (echo x >"$f") 2>/dev/null && echo "$f written"; done',
  },
  {
    name: 'no memory of process 1 of the host',
    script: 'grep -q -a parley-server /proc/1/environ 2>/dev/null && echo seen',
  },
  {
    name: 'only the loopback interface',
    exceptInPods: true,
    script: `n=$(tail -n +3 /proc/net/dev | grep -vc '^ *lo:'); [ "$n" = 0 ] || tail -n +3 /proc/net/dev`,
  },
  {
    name: 'no route out',
    exceptInPods: true,
    script: '[ "$(tail -n +2 /proc/net/route | wc -l)" = 0 ] || cat /proc/net/route',
  },
  {
    name: "the host's loopback is out of reach",
    script: 'socat -T1 - "TCP4:127.0.0.1:$1,connect-timeout=1" </dev/null >/dev/null 2>&1 && echo "port $1 answered"',
  },
  {
    name: 'no abstract socket of the host',
    script: `[ "$(grep -c '@' /proc/net/unix)" = 0 ] || grep '@' /proc/net/unix`,
  },
  {
    name: 'no device of the host',
    script:
      'for d in /dev/sda /dev/vda /dev/kvm /dev/mem /dev/fuse /dev/loop-control; do [ -e "$d" ] && echo "$d is there"; done',
  },
  {
    name: 'no engine socket',
    script:
      'for s in /var/run/docker.sock /run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock; do [ -e "$s" ] && echo "$s is there"; done',
  },
  {
    name: 'setuid programs gain nothing',
    script: `grep -q '^NoNewPrivs:.1' /proc/self/status || grep -E ' (/|/usr|/tmp|/workspace|/home/agent) ' /proc/mounts | grep -v nosuid`,
  },
  {
    name: 'no descriptor of the server',
    script: `for f in $(ls /proc/$$/fd); do t=$(readlink "/proc/$$/fd/$f"); case $f:$t in [012]:*|*:/dev/null|*:) ;; *) echo "$f is $t";; esac; done`,
  },
]

/** Those that must hold. */
export const probesOf = (inPods: boolean): readonly Probe[] =>
  probes.filter(({ exceptInPods }) => !(inPods && exceptInPods))
