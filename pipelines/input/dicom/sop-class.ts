import { UnreadableInput } from '../../contract/study.ts';

/** Ultrasound storage, current and retired (PS3.4 B.5, PS3.6 A). */
const ULTRASOUND: ReadonlySet<string> = new Set([
  '1.2.840.10008.5.1.4.1.1.3',
  '1.2.840.10008.5.1.4.1.1.3.1',
  '1.2.840.10008.5.1.4.1.1.6',
  '1.2.840.10008.5.1.4.1.1.6.1',
]);

/** Screens captured by other programs, still and multi-frame of every depth. */
const SECONDARY_CAPTURE: ReadonlySet<string> = new Set([
  '1.2.840.10008.5.1.4.1.1.7',
  '1.2.840.10008.5.1.4.1.1.7.1',
  '1.2.840.10008.5.1.4.1.1.7.2',
  '1.2.840.10008.5.1.4.1.1.7.3',
  '1.2.840.10008.5.1.4.1.1.7.4',
]);

/** Objects that come with an ultrasound study and are no image of it. */
const NAMED: Readonly<Record<string, string>> = {
  '1.2.840.10008.5.1.4.1.1.6.2':
    'Enhanced US Volume is not supported: its slices are resampled from a volume, and no measurement here is made for them',
  '1.2.840.10008.5.1.4.1.1.6.3': 'Photoacoustic images are not ultrasound images',
  '1.2.840.10008.5.1.4.1.1.66': 'raw data of the manufacturer cannot be read',
  '1.2.840.10008.5.1.4.1.1.11.1': 'a presentation state holds no image',
  '1.2.840.10008.5.1.4.1.1.104.1': 'an encapsulated PDF holds no image',
  '1.2.840.10008.5.1.4.1.1.88.59': 'a key object selection holds no image',
};

export function isSecondaryCapture(sopClassUid: string): boolean {
  return SECONDARY_CAPTURE.has(sopClassUid);
}

/** Throws a Refusal for an object that is no ultrasound image. */
export function checkSopClass(sopClassUid: string): void {
  if (ULTRASOUND.has(sopClassUid) || SECONDARY_CAPTURE.has(sopClassUid)) return;
  throw new UnreadableInput(
    NAMED[sopClassUid] ??
      `the object is not an ultrasound image (SOP class ${sopClassUid || 'missing'})`,
  );
}
