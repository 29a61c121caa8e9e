import { type SentenceTable, statementsOf } from '../statement.ts';

/** Sentences about the run itself, which sections of every endpoint may need. */
export const SHARED_SENTENCES = {
  'run.section-failed': () => 'This section could not be interpreted because of an internal error.',
  'run.reader-failed': () =>
    'The images of this section could not be analysed because of an internal error.',
  'run.several-studies': () =>
    'The files belong to more than one study but were read as one examination of one patient: submit each study separately.',
  'run.mock': () => 'The mock backend does not look at the images of the heart.',
  'report.not-requested': () => 'The draft report was not requested.',
  'report.withheld': ({ claims }: { claims: readonly string[] }) =>
    `The report was withheld: the result does not hold ${claims.join(', ')}.`,
} as const satisfies SentenceTable;

export const sayOfRun = statementsOf<typeof SHARED_SENTENCES>();
