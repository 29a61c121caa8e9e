import {
  type Withdrawal,
  type WithdrawalReason,
  withdrawalText,
} from '../../contract/withdrawal.ts';
import { STORAGE_CLASS } from '../../dicom/sop-classes.ts';
import type { SourceInstance, Subject } from '../../dicom/subject.ts';
import type { Result } from '../../result/envelope.ts';
import { hierarchicalReferences, studyUidOf } from '../modules.ts';
import {
  type Code,
  type ContentItem,
  code,
  composite,
  image,
  pname,
  root,
  text,
} from '../sr/content-item.ts';
import { encode } from '../sr/encode.ts';
import { keyObjectHeader, languageItem, observerItems, personName } from '../sr/header.ts';
import { SR } from '../sr/vocabulary.ts';

/** An object that a PACS has stored and must no longer show. */
export type RejectedObject = Pick<
  SourceInstance,
  'sopClassUid' | 'sopInstanceUid' | 'seriesInstanceUid'
>;

/**
 * Document title for each reason (IHE RAD TF-3 4.66.4.1.3; PS3.16 CID 7010). A PACS must not show
 * what is rejected for patient safety, whereas it may show objects of poor quality on request. An
 * object that was made for the wrong order is expected again under the right one.
 */
const TITLES: Readonly<Record<WithdrawalReason, Code>> = {
  'wrong-patient': SR.rejectedForSafety,
  'wrong-study': SR.rejectedForSafety,
  'wrong-order': SR.incorrectWorklistEntry,
  'wrong-measurement': SR.rejectedForSafety,
  quality: SR.rejectedForQuality,
};

/** Our classes that are images; an IMAGE item must not refer to any other (PS3.3 C.18.4). */
const IMAGE_CLASSES: ReadonlySet<string> = new Set([
  STORAGE_CLASS.segmentation,
  STORAGE_CLASS.labelMapSegmentation,
  STORAGE_CLASS.secondaryCapture,
]);

function reference({ sopClassUid, sopInstanceUid }: RejectedObject): ContentItem {
  return IMAGE_CLASSES.has(sopClassUid)
    ? image('CONTAINS', null, { sopClassUid, sopInstanceUid, frame: null })
    : composite('CONTAINS', null, { sopClassUid, sopInstanceUid });
}

/**
 * Writes a rejection note: a Key Object Selection (PS3.3 A.35.4, PS3.16 TID 2010) whose title states
 * why a PACS must no longer show the objects that it references (IHE RAD Imaging Object Change
 * Management). It states when and by whom the result was withdrawn.
 * @param destination the PACS. Each one gets its own note, because its objects may differ.
 * @param rejected at least one object.
 */
export function buildRejectionNote(
  result: Result,
  subject: Subject,
  withdrawal: Withdrawal,
  { destination, rejected }: { destination: string; rejected: readonly RejectedObject[] },
): Buffer {
  const withdrawn = { ...result, generated_at: withdrawal.at };
  const whole = { ...subject, signedRevision: 0 };
  const tree = root(TITLES[withdrawal.reason], '2010', [
    languageItem(),
    ...observerItems({ ...result, measurements: [] }),
    code('HAS OBS CONTEXT', SR.observerType, SR.person),
    pname('HAS OBS CONTEXT', SR.personName, personName(withdrawal.by)),
    text('CONTAINS', SR.keyObjectDescription, `Withdrawn. ${withdrawalText(withdrawal)}`),
    ...rejected.map(reference),
  ]);
  const header = {
    ...keyObjectHeader(withdrawn, whole, {
      series: 'rejection',
      role: `rejection-note ${destination}`,
    }),
    SeriesDescription: 'Withdrawn result',
    CurrentRequestedProcedureEvidenceSequence: hierarchicalReferences(
      studyUidOf(subject),
      rejected,
    ),
  };
  return encode(header, tree);
}
