import type { ReviewReason } from '../../concepts/method-evidence.ts';
import { type SentenceTable, statementsOf } from '../statement.ts';
import { type SentenceContext, withSubject } from './obstetric/shared.ts';
import { asHeading } from './unit-text.ts';

/** Reasons why a value needs review by a person, worded as the end of a sentence. */
export const REVIEW_TEXT = {
  'no-evidence': 'the method was not validated on real images',
  'simulated-only': 'the method was validated on simulated images only',
  'too-few-cases': 'the method was validated on too few real images',
  'no-reference': 'the method was not compared with a reference on real images',
  'error-too-large': 'the method was not accurate enough on real images',
  'other-model': 'the model in use is not the one that was validated',
  'outside-domain': 'the method was not validated on images of this kind or age',
  'rests-on-review': 'calculated from a value that needs review',
} as const satisfies Record<ReviewReason, string>;

/**
 * Notice on every page of a result that accepts values from methods validated on simulated images
 * only.
 */
export const RESEARCH_NOTICE =
  'Research setting: values validated on simulated images are accepted';

/** Sentences about the processing itself, for sections of every endpoint. */
export const SHARED_SENTENCES = {
  'run.section-failed': () => 'This section could not be interpreted because of an internal error.',
  'run.reader-failed': () =>
    'The images of this section could not be analysed because of an internal error.',
  'run.several-studies': () =>
    'The files belong to more than one study but were read as one examination of one patient: submit each study separately.',
  'run.mock': () => 'The mock backend does not analyse the cardiac images.',
  'run.needs-review': ({ reason }: { reason: ReviewReason }, { about, text }: SentenceContext) => {
    const values = about.map(
      (one) => `${withSubject(text.names([one.concept.key]), one)} ${text.value(one)}`,
    );
    const verb =
      about.length > 1 ? 'were measured and need review' : 'was measured and needs review';
    return `${asHeading(values.join(', '))} ${verb}: ${REVIEW_TEXT[reason]}.`;
  },
  'run.rests-on-review': () =>
    'Further readings from the images need review and are not part of the conclusions.',
  'report.not-requested': () => 'The draft report was not requested.',
  'report.withheld': ({ claims }: { claims: readonly string[] }) =>
    `The report was withheld: the result does not contain ${claims.join(', ')}.`,
} as const satisfies SentenceTable;

export const sayOfRun = statementsOf<typeof SHARED_SENTENCES>();
