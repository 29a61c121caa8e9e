import type { Result } from '../../result/envelope.ts';
import { MANUFACTURER } from '../dicom/modules.ts';
import { type ContentItem, code, text, uidref } from './content-item.ts';
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

/** TID 1008 for one of several fetuses. */
export function fetusItems(fetus: string): ContentItem[] {
  return [
    code('HAS OBS CONTEXT', SR.subjectClass, SR.fetus),
    text('HAS OBS CONTEXT', SR.subjectId, fetus),
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
