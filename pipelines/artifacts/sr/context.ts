import type { Measurement, Result } from '../../result/envelope.ts';
import { MANUFACTURER } from '../dicom/modules.ts';
import { type Code, type ContentItem, code, num, text, uidref } from './content-item.ts';
import { derivedUid } from './uid.ts';
import { SR } from './vocabulary.ts';

/** Fixed per pipeline version (TID 1004). */
export function deviceUid(result: Result): string {
  return derivedUid('device', result.endpoint, result.version);
}

/** TID 1204. */
export function languageItem(): ContentItem {
  return code('HAS CONCEPT MOD', SR.language, SR.english);
}

/** TID 1001 with a device observer (TID 1002, 1004): no person has seen the result. */
export function observerItems(result: Result): ContentItem[] {
  return [
    code('HAS OBS CONTEXT', SR.observerType, SR.device),
    uidref('HAS OBS CONTEXT', SR.deviceUid, deviceUid(result)),
    text('HAS OBS CONTEXT', SR.deviceName, `${MANUFACTURER} ${result.endpoint}`),
    text('HAS OBS CONTEXT', SR.deviceManufacturer, MANUFACTURER),
    text('HAS OBS CONTEXT', SR.deviceModel, result.endpoint),
    text('HAS OBS CONTEXT', SR.deviceSerial, result.version),
  ];
}

const NO_UNIT: Code = { scheme: 'UCUM', code: '1', meaning: 'no units' };

/** The fetuses that measurements name, in the order of their letters. */
export function fetusesNamed(measurements: readonly Measurement[]): string[] {
  const named = measurements.map(({ fetus }) => fetus).filter((fetus) => fetus !== null);
  return [...new Set(named)].sort();
}

/** TID 1008 for one fetus, with its number and how many there are where it is one of several. */
export function fetusItems(fetus: string, all: readonly string[]): ContentItem[] {
  const counted = (name: Code, value: number) =>
    num('HAS OBS CONTEXT', name, { value, unit: NO_UNIT });
  return [
    code('HAS OBS CONTEXT', SR.subjectClass, SR.fetus),
    text('HAS OBS CONTEXT', SR.subjectId, fetus),
    ...(all.length > 1
      ? [counted(SR.fetusNumber, all.indexOf(fetus) + 1), counted(SR.numberOfFetuses, all.length)]
      : []),
  ];
}

/** TID 4019: the pipeline, its version, and each model with the hash of its weights. */
export function algorithmItems(result: Result): ContentItem[] {
  return [
    text('HAS CONCEPT MOD', SR.algorithmName, `${MANUFACTURER} ${result.endpoint}`),
    text('HAS CONCEPT MOD', SR.algorithmVersion, result.version),
    ...result.models.map(({ id, version, sha256 }) =>
      text(
        'HAS CONCEPT MOD',
        SR.algorithmParameters,
        `model=${id};version=${version};sha256=${sha256}`,
      ),
    ),
    code('HAS CONCEPT MOD', SR.algorithmFamily, SR.artificialIntelligence),
  ];
}
