import { conceptEntry } from '../concepts/concepts.ts';
import type { Subject } from '../dicom/subject.ts';
import { derivedUid } from '../dicom/uid.ts';
import type { Measurement } from '../result/envelope.ts';
import { studyUidOf } from './modules.ts';

/**
 * Returns a tracking identifier for each measurement, such as "HC fetus A #2". It is unique in the
 * document and does not change when the study is processed again.
 */
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

/**
 * Returns the Tracking Unique Identifier for a tracking identifier. It is the same in every object
 * of the study.
 */
export function trackingUid(subject: Subject, identifier: string): string {
  return derivedUid(studyUidOf(subject), identifier);
}
