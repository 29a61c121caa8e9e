import type { Description, Rectangle, Timing } from '../contract/study.ts';
import { readCardiac } from './dicom-ecg.ts';
import { type DicomHeader, type HeaderItem, numberOf, textOf } from './dicom-header.ts';
import { DATA_TYPE, type Regions, SPATIAL_FORMAT, showsUltrasound } from './dicom-regions.ts';
import { readSweeps } from './dicom-sweeps.ts';
import { asUid } from './uid.ts';

function codeOf(item: HeaderItem | undefined): string | null {
  const [value, scheme] = [item?.get('CodeValue'), item?.get('CodingSchemeDesignator')];
  return value && scheme ? `${scheme}:${value}` : null;
}

/** PS3.3 C.7.6.1.1.1; U and B tell no side. */
const LATERALITY: Readonly<Record<string, 'left' | 'right'>> = { L: 'left', R: 'right' };

function yesOrNo(text: string): boolean | null {
  return text === 'YES' ? true : text === 'NO' ? false : null;
}

/** What a header tells of an image beside its pixels and their scale. */
export function readDescription(
  header: DicomHeader,
  { regions: written, misfit }: Regions,
  timing: Timing,
): Description {
  const regions = misfit ? [] : written;
  const areas = (chosen: typeof regions): Rectangle[] => chosen.flatMap(({ area }) => area ?? []);
  const colourFlow = regions.filter(
    ({ format, dataType }) =>
      format === SPATIAL_FORMAT.picture && dataType === DATA_TYPE.colourFlow,
  );
  const chromatic = numberOf(header, 'UltrasoundColorDataPresent');
  return {
    sopInstanceUid: asUid(textOf(header, 'SOPInstanceUID')),
    sopClassUid: asUid(textOf(header, 'SOPClassUID')),
    seriesInstanceUid: asUid(textOf(header, 'SeriesInstanceUID')),
    timing,
    sweeps: readSweeps(regions),
    colourAreas: areas(colourFlow),
    ultrasoundAreas: areas(regions.filter(showsUltrasound)),
    colourDataPresent: chromatic === null ? null : chromatic === 1,
    burnedInAnnotation: yesOrNo(textOf(header, 'BurnedInAnnotation')),
    ...readCardiac(header, regions),
    stageName: textOf(header, 'StageName') || null,
    stageNumber: numberOf(header, 'StageNumber'),
    viewName: textOf(header, 'ViewName') || null,
    viewCode: codeOf(header.views[0]),
    anatomicRegion: codeOf(header.anatomicRegions[0]),
    laterality: LATERALITY[textOf(header, 'ImageLaterality')] ?? null,
    instanceNumber: numberOf(header, 'InstanceNumber'),
    instant: null,
  };
}
