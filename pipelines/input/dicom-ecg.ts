import type { Ecg } from '../contract/study.ts';
import {
  type DicomHeader,
  type HeaderItem,
  numberIn,
  numberOf,
  numbersOf,
} from './dicom-header.ts';
import { DATA_TYPE, SPATIAL_FORMAT, type UltrasoundRegion, UNIT } from './dicom-regions.ts';

/** Beats per minute that a heart, of a fetus too, can have; a cart without ECG writes 0. */
const HEART_RATE = { least: 20, most: 300 } as const;

export interface Cardiac {
  ecg: Ecg | null;
  heartRate: number | null;
  rWaves: number[];
  triggerTime: number | null;
}

/** The first channel of a multiplex group of signed words (PS3.3 C.10.9.1), as stored. */
function firstChannel(group: HeaderItem, bigEndian: boolean): NonNullable<Ecg['samples']> | null {
  const channels = numberIn(group, 'NumberOfWaveformChannels') ?? 0;
  const perSecond = numberIn(group, 'SamplingFrequency') ?? 0;
  const data = group.get('WaveformData');
  const words =
    numberIn(group, 'WaveformBitsAllocated') === 16 &&
    group.get('WaveformSampleInterpretation') === 'SS';
  if (!Buffer.isBuffer(data) || !words || channels < 1 || !(perSecond > 0)) return null;
  const samples = Math.min(
    numberIn(group, 'NumberOfWaveformSamples') ?? 0,
    Math.floor(data.length / (2 * channels)),
  );
  const values = Array.from({ length: samples }, (_, index) => {
    const at = index * channels * 2;
    return bigEndian ? data.readInt16BE(at) : data.readInt16LE(at);
  });
  const start = (numberIn(group, 'MultiplexGroupTimeOffset') ?? 0) / 1000;
  return values.length > 0 ? { start, perSecond, values } : null;
}

function readEcg(header: DicomHeader, regions: readonly UltrasoundRegion[]): Ecg | null {
  const strip = regions.find(
    ({ format, dataType, area }) =>
      format === SPATIAL_FORMAT.waveform && dataType === DATA_TYPE.ecg && area,
  );
  const [group] = header.waveforms;
  const samples = group ? firstChannel(group, header.bigEndian) : null;
  if (!strip?.area && !samples) return null;
  const seconds = Math.abs(strip?.delta.x ?? 0);
  const scaled = strip?.units.x === UNIT.second && seconds > 0;
  return { area: strip?.area ?? null, secondsPerPixel: scaled ? seconds : null, samples };
}

/** What a header tells of the heart beat. R waves and trigger times are in milliseconds there. */
export function readCardiac(header: DicomHeader, regions: readonly UltrasoundRegion[]): Cardiac {
  const rate = numberOf(header, 'HeartRate');
  const possible = rate !== null && rate >= HEART_RATE.least && rate <= HEART_RATE.most;
  const rWaves = numbersOf(header, 'RWaveTimeVector').toSorted((a, b) => a - b);
  const trigger = numberOf(header, 'TriggerTime');
  return {
    ecg: readEcg(header, regions),
    heartRate: possible ? rate : null,
    rWaves: rWaves.map((milliseconds) => milliseconds / 1000),
    triggerTime: trigger === null ? null : trigger / 1000,
  };
}
