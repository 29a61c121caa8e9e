import type { Clip } from '../contract/study.ts';
import { type DicomHeader, numberOf, textOf } from './dicom-header.ts';
import { DATA_TYPE, SPATIAL_FORMAT, type UltrasoundRegion } from './dicom-regions.ts';

/** Image Type value 4, hexadecimal flags (PS3.3 C.8.5.6.1.1); several may be set. */
const IMAGE_MODES: readonly [flags: number, mode: Clip['mode']][] = [
  [0x0004 | 0x0008, 'spectral'],
  [0x0002 | 0x0020, 'm-mode'],
  [0x0010 | 0x0100, 'colour'],
  [0x0001, '2d'],
];

function byImageType(header: DicomHeader): Clip['mode'] {
  const [, , , value = ''] = textOf(header, 'ImageType').split('\\');
  if (!/^[0-9A-F]{4}$/i.test(value)) return 'unknown';
  const set = Number.parseInt(value, 16);
  return IMAGE_MODES.find(([flags]) => (set & flags) !== 0)?.[1] ?? 'unknown';
}

/**
 * The mode of an image: by its regions, which Image Type never overrules since some carts always
 * write 0001 (echo reference 2.4 and 2.5); then by Image Type and by Ultrasound Color Data Present.
 * `unknown` where the header says nothing.
 */
export function readMode(header: DicomHeader, regions: readonly UltrasoundRegion[]): Clip['mode'] {
  const hasFormat = (value: number) => regions.some(({ format }) => format === value);
  const hasColour = regions.some(
    ({ format, dataType }) =>
      format === SPATIAL_FORMAT.picture && dataType === DATA_TYPE.colourFlow,
  );
  if (hasFormat(SPATIAL_FORMAT.spectral)) return 'spectral';
  if (hasFormat(SPATIAL_FORMAT.mMode)) return 'm-mode';
  if (hasColour) return 'colour';
  if (hasFormat(SPATIAL_FORMAT.picture)) return '2d';
  const mode = byImageType(header);
  const chromatic = numberOf(header, 'UltrasoundColorDataPresent') === 1;
  return chromatic && (mode === '2d' || mode === 'unknown') ? 'colour' : mode;
}
