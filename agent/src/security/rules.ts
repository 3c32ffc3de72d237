import type { Risk } from '@parley/contract/events'

/*
 * What is known to be dangerous, by the text of commands and the paths of edits. A rule can be walked around by who wants to;
 * it is there for accidents and for the usual forms of an attack, beside the sandbox and not instead of it.
 */

export interface Rule {
  name: string
  level: Exclude<Risk, 'UNKNOWN' | 'LOW'>
  pattern: RegExp
}

const interpreter = String.raw`(?:sudo\s+)?(?:\S{0,40}\/)?(?:(?:ba|z|k|da|fi)?sh|python[\d.]*|perl|ruby|node|php)\b`
const fetcher = String.raw`\b(?:curl|wget|fetch|aria2c)\b`
const disk = String.raw`\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/)\w*`
const everything = String.raw`(?:\/|~\/?|\$\{?HOME\}?\/?|\.{1,2}\/?|\/(?:etc|usr|bin|sbin|lib|var|home|root|boot|opt|workspace)\/?)\*?`
const end = String.raw`["']?(?=\s|$|[;&|)])`

const rule = (level: Rule['level'], name: string, ...pieces: string[]): Rule => ({
  name,
  level,
  pattern: new RegExp(pieces.join(''), 'im'),
})

export const commandRules: readonly Rule[] = [
  rule('HIGH', 'fetch and execute', fetcher, String.raw`[^\n]{0,500}?\|\s*`, interpreter),
  rule(
    'HIGH',
    'fetch and execute',
    String.raw`\b(?:eval|source|(?:ba|z|k|da)?sh)\s+[^\n|;]{0,40}?(?:<\(|\$\(|${'`'})\s*`,
    fetcher,
  ),
  rule(
    'HIGH',
    'fetch and execute',
    fetcher,
    String.raw`[^\n]{0,300}?(?:-o|-O|>)\s*(\S{1,200})[\s\S]{0,300}?(?:chmod\s+\S{1,10}\s+|${interpreter}\s+|[;&]\s*)(?:\.\/)?\1`,
  ),
  rule('HIGH', 'decode and execute', String.raw`\bbase64\s+(?:-d|-D|--decode)[^\n]{0,200}?\|\s*`, interpreter),
  rule('HIGH', 'raw disk write', String.raw`\bdd\b[^\n]{0,300}?\bof=`, disk),
  rule('HIGH', 'raw disk write', String.raw`>\s*`, disk),
  rule(
    'HIGH',
    'raw disk write',
    String.raw`\b(?:mkfs(?:\.\w+)?|wipefs|blkdiscard|sgdisk|sfdisk|fdisk|parted|shred)\b[^\n]{0,200}?`,
    disk,
  ),
  rule(
    'HIGH',
    'catastrophic delete',
    String.raw`\brm\s+(?=[^\n;|&]{0,200}?(?:-\w*[rR]|--recursive))(?:-{1,2}[\w-]+\s+)+(?:[^\s;|&]{1,200}\s+){0,10}?["']?`,
    everything,
    end,
  ),
  rule('HIGH', 'catastrophic delete', String.raw`--no-preserve-root\b`),
  rule(
    'HIGH',
    'catastrophic delete',
    String.raw`\bfind\s+(?!\.)`,
    everything,
    String.raw`\s[^\n]{0,200}?(?:-delete\b|-exec\s+rm\b)`,
  ),
  rule(
    'HIGH',
    'catastrophic delete',
    String.raw`\b(?:terraform|tofu|pulumi)\s+destroy\b|\bkubectl\s+delete\s+(?:ns|namespace|[^\n]{0,80}--all\b)|\baws\s+s3\s+(?:rm\b[^\n]{0,200}--recursive|rb\b[^\n]{0,200}--force)`,
  ),
  rule(
    'HIGH',
    'permissions of everything',
    String.raw`\bch(?:mod|own)\s+(?:-\w*R\w*|--recursive)\s+\S{1,60}\s+["']?`,
    everything,
    end,
  ),
  rule('HIGH', 'fork bomb', String.raw`:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&`),
  rule('HIGH', 'kills everything', String.raw`\bkill\s+(?:-\w+\s+){0,2}--?\s*-1\b|\bkill\s+-(?:9|KILL|SIGKILL)\s+-1\b`),
  rule(
    'HIGH',
    'credential read',
    String.raw`(?:\.ssh\/(?:id_|identity|\*)|\.aws\/credentials|\.git-credentials|\.netrc|\.pypirc|\.docker\/config\.json|\.kube\/config|\.gnupg\/|\.config\/gh\/hosts|\.config\/gcloud\/|\/etc\/g?shadow|\/proc\/(?:\d+|self|\*)\/environ|\/var\/run\/secrets\/)`,
  ),
  rule('HIGH', 'cloud metadata', String.raw`169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200`),
  rule(
    'HIGH',
    'data leaving',
    String.raw`(?:\b(?:env|printenv|set)\b|\.env\b)[^\n]{0,200}?\|[^\n]{0,80}?\b(?:curl|wget|nc|ncat|socat|ssh)\b`,
  ),
  rule(
    'HIGH',
    'reverse shell',
    String.raw`\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat)\b[^\n]{0,80}?\s-\w*[ec]\s|\bsocat\b[^\n]{0,200}?\bexec:`,
  ),
  rule(
    'HIGH',
    'host access',
    String.raw`\bdocker\s+run\b[^\n]{0,300}?(?:--privileged|-v\s*\/:|--pid[= ]host)|docker\.sock|\b(?:nsenter|insmod|modprobe|kexec)\b`,
  ),
  rule(
    'HIGH',
    'publishes a package',
    String.raw`\b(?:npm|pnpm|yarn|cargo|poetry|uv|dotnet)\s+(?:nuget\s+)?(?:publish|push)\b|\btwine\s+upload\b|\bgem\s+push\b`,
  ),
  rule(
    'HIGH',
    'stays after the work',
    String.raw`authorized_keys|\/etc\/(?:sudoers|cron|ld\.so\.preload|passwd)|\bcrontab\s+(?!-l)`,
  ),
  rule(
    'MEDIUM',
    'stays after the work',
    String.raw`>>?\s*["']?(?:~|\$HOME|\/root|\/home\/\w+)\/\.(?:bashrc|profile|bash_profile|zshrc|gitconfig)|\bsystemctl\s+enable\b`,
  ),
  rule(
    'MEDIUM',
    'uploads a file',
    String.raw`\bcurl\b[^\n]{0,300}?\s(?:-d|--data(?:-\w+)?|-F|--form|-T|--upload-file)\s*\S{0,80}?@?[\w./~-]*\/`,
  ),
  rule(
    'MEDIUM',
    'rewrites published history',
    String.raw`\bgit\s+push\b[^\n]{0,200}?(?:\s-f\b|--force\b|--force-with-lease|--mirror|--delete\b)`,
  ),
  rule('MEDIUM', 'privileged act', String.raw`\b(?:sudo|doas|su\s+-|mount|chroot|unshare)\s`),
  rule(
    'MEDIUM',
    'unverified package',
    String.raw`\b(?:pip3?|npm|pnpm|yarn|gem|cargo|go)\s+(?:install|add|i|get)\b[^\n]{0,200}?(?:https?:\/\/|git\+|git@)`,
  ),
  rule(
    'MEDIUM',
    'drops data',
    String.raw`\b(?:drop\s+(?:database|schema|table)|truncate\s+table)\b|\bdocker\s+(?:system|volume)\s+prune\b`,
  ),
  rule('MEDIUM', 'stops the machine', String.raw`\b(?:shutdown|reboot|poweroff|halt)\b`),
]

/** Of files that a tool other than the shell reads or writes. */
export const pathRules: readonly Rule[] = [
  rule(
    'HIGH',
    'credential file',
    String.raw`(?:\/\.ssh\/|\/\.aws\/credentials|\.git-credentials|\/\.netrc|\/\.pypirc|\/\.docker\/config\.json|\/\.kube\/config|\/\.gnupg\/|\/etc\/g?shadow|\/proc\/(?:\d+|self)\/environ)`,
  ),
  rule('HIGH', 'system file', String.raw`^\/(?:etc|boot|usr|bin|sbin|lib\w*)\/`),
  rule(
    'MEDIUM',
    'runs by itself later',
    String.raw`\/\.git\/hooks\/|\/\.(?:bashrc|profile|bash_profile|zshrc|gitconfig)$`,
  ),
]
