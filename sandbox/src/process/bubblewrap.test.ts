import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bubblewrapArguments } from './bubblewrap.ts'

const folders = {
  etc: '/mnt/etc',
  runtime: '/mnt/run',
  tmp: '/mnt/tmp',
  home: '/mnt/home',
  workspace: '/mnt/workspace',
}
const list = bubblewrapArguments({
  folders,
  shared: ['/etc/ssl'],
  links: [{ path: '/bin', to: 'usr/bin' }],
  real: [],
})

test('the walls of a sandbox are exactly these', () => {
  assert.equal(
    list.join(' '),
    '--unshare-all --unshare-user --disable-userns --cap-drop ALL --die-with-parent --new-session --as-pid-1' +
      ' --uid 1000 --gid 1000 --hostname sandbox --clearenv --setenv PATH /usr/local/bin:/usr/bin:/bin --info-fd 4' +
      ' --file 5 /.parley --ro-bind /usr /usr --symlink usr/bin /bin --ro-bind /mnt/etc /etc --ro-bind /etc/ssl /etc/ssl' +
      ' --proc /proc --dev /dev --perms 1777 --size 67108864 --tmpfs /dev/shm --ro-bind /mnt/run /run/parley' +
      ' --dir /var --symlink ../tmp /var/tmp --symlink ../run /var/run --bind /mnt/tmp /tmp --bind /mnt/home /home/agent' +
      ' --bind /mnt/workspace /workspace --remount-ro / --chdir /',
  )
})

test('nothing is mounted at or below a folder that a tenant can write', () => {
  const writable: string[] = []
  for (const [at, word] of list.entries()) {
    if (!/^--(ro-)?bind$/.test(word) && !['--tmpfs', '--dir', '--file', '--symlink'].includes(word)) continue
    const target = list[at + (['--tmpfs', '--dir'].includes(word) ? 1 : 2)] ?? ''
    for (const folder of writable) assert.ok(!`${target}/`.startsWith(`${folder}/`), `${target} lies in ${folder}`)
    if (word === '--bind') writable.push(target)
  }
  assert.deepEqual(writable, ['/tmp', '/home/agent', '/workspace'])
})
