import type { Description, Rectangle, Timing } from '../contract/study.ts';
import { readCardiac } from './dicom-ecg.ts';
import { type DicomHeader, numberOf, textOf } from './dicom-header.ts';
import { DATA_TYPE, type Regions, SPATIAL_FORMAT, showsUltrasound } from './dicom-regions.ts';
import { readSweeps } from './dicom-sweeps.ts';

function viewCode({ views }: DicomHeader): string | null {
  const [view] = views;
  const [value, scheme] = [view?.get('CodeValue'), view?.get('CodingSchemeDesignator')];
  return value && scheme ? `${scheme}:${value}` : null;
}

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
    sopInstanceUid: textOf(header, 'SOPInstanceUID') || null,
    sopClassUid: textOf(header, 'SOPClassUID') || null,
    seriesInstanceUid: textOf(header, 'SeriesInstanceUID') || null,
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
    viewCode: viewCode(header),
    instanceNumber: numberOf(header, 'InstanceNumber'),
    instant: null,
  };
}
