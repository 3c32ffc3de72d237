/* Values that examples of several endpoints share, so that they tell one story. */

export const exampleIds = {
  conversation: '0199f3c2-7a10-7c3e-9a51-2f0d6b1c8e44',
  task: '0199f3c2-79f4-7b02-8d11-5a0c9e3f7b21',
  sandbox: '0199f3c2-7a00-71aa-b0c4-8e5d2f6a1933',
  user: '0199f3b0-1111-7aaa-8bbb-0c0d0e0f1011',
} as const

export const exampleTime = '2026-11-21T07:13:05.120Z'
