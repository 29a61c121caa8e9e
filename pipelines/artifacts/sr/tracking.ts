import { conceptEntry } from '../../result/concepts.ts';
import type { Measurement } from '../../result/envelope.ts';
import { studyUidOf } from '../dicom/modules.ts';
import type { Subject } from '../subject.ts';
import { derivedUid } from './uid.ts';

/** "HC fetus A #2": unique in the document, the same when the study is run again. */
export function trackingIdentifiers(measurements: readonly Measurement[]): Map<string, string> {
  const counts = new Map<string, number>();
  const identifiers = new Map<string, string>();
  for (const { id, concept, label, laterality, fetus } of measurements) {
    const name = conceptEntry(concept.key)?.abbreviation ?? label;
    const what = [name, laterality, fetus && `fetus ${fetus}`].filter(Boolean).join(' ');
    const count = (counts.get(what) ?? 0) + 1;
    counts.set(what, count);
    identifiers.set(id, `${what} #${count}`);
  }
  return identifiers;
}

/** Tracking Unique Identifier of what is tracked under an identifier, in every object of the study. */
export function trackingUid(subject: Subject, identifier: string): string {
  return derivedUid(studyUidOf(subject), identifier);
}
