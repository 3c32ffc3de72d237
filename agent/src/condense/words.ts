/* The words around a summary. */

const sections = [
  'Goal: what the user wants, and why',
  'Constraints and preferences: what the user forbade, asked for or likes, in the user’s words',
  'Done: what was asked and is finished, so that it is not done again',
  'In progress: what is under way, and how far',
  'Blocked: what does not work, and what was tried',
  'Decisions: what was decided, and why',
  'Next steps',
  'Facts: paths, names, numbers, errors, commands that work; word for word',
]

/** Put to the end of the history, so that all before it is what the provider has in its cache. */
export const instruction = (previous: boolean): string =>
  [
    'This conversation has grown too long. Do not go on with the task now and call no tools: write the notes from which you',
    'will go on. They replace the steps so far; the messages of the user, the list of tasks and the names of the files you',
    'touched are added to them without your help.',
    previous
      ? 'The history begins with notes of this kind. Bring them up to date: keep every fact of theirs that may still matter.'
      : '',
    `Write at most 1,500 words under these headings, and leave out a heading with nothing under it:\n- ${sections.join('\n- ')}`,
  ]
    .filter((line) => line !== '')
    .join('\n')

/** What stands in the place of what is left out. */
export const shownSummary = (notes: string, pinned: string): string =>
  [
    `<notes_on_earlier_steps>\n${notes}\n</notes_on_earlier_steps>`,
    pinned,
    'Go on from these notes. What the user said before the latest steps follows in full where there is room; the notes say what of it is done.',
  ]
    .filter((part) => part !== '')
    .join('\n\n')

/** The notes inside an earlier summary. */
export const notesIn = (summary: string): string =>
  /<notes_on_earlier_steps>\n(.*)\n<\/notes_on_earlier_steps>/s.exec(summary)?.[1] ?? summary

export const leftOut =
  'Earlier steps of this conversation are left out here, because they no longer fit. Look at the files for their results.'
