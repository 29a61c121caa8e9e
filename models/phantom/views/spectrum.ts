import { drawAcquisition, drawVisibleView } from '../acquisition.ts';
import type { PhantomFrame } from '../frame.ts';
import { createRandom, type Random } from '../random.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import {
  beatsOverTime,
  type Display,
  displayValues,
  drawMarks,
  drawSpectrum,
  drawWaveform,
  placeSpectrum,
  spectralRegion,
  truthOf,
  type Vessel,
  type Waveform,
} from './spectrum-display.ts';

const SCREENS = [
  { columns: 640, rows: 480 },
  { columns: 800, rows: 600 },
  { columns: 1024, rows: 768 },
] as const;

/**
 * Picks a display at random in which the flow fills between half and nine tenths of its side of the
 * baseline. `anatomy.scaleShare` is the end of the scale as a share of the peak. Below 1, the peak
 * aliases.
 */
function drawDisplay(request: ViewRequest, waveform: Waveform, random: Random): Display {
  const { columns, rows } = request.screen ?? random.pick(SCREENS);
  const anatomy = request.anatomy ?? {};
  const left = Math.round(columns * random.range(0.03, 0.09));
  const top = Math.round(rows * random.range(0.3, 0.52));
  const width = Math.round(columns * random.range(0.88, 0.9)) - left;
  const height = Math.round(rows * random.range(0.91, 0.95)) - top;
  const { psv, lowest } = truthOf(waveform);
  const forwardShare =
    lowest < 0 ? random.range(0.58, 0.66) : random.range(0.62, anatomy.vein ? 0.68 : 0.85);
  const reach = psv * (anatomy.scaleShare ?? random.range(1.12, 1.9));
  const forward = random.chance(0.7) ? 'up' : 'down';
  const dynamicRange = random.range(26, 46);
  const forwardRows = Math.round(height * forwardShare);
  const beats = anatomy.beats ?? random.range(3.6, 8);
  return {
    columns,
    rows,
    left,
    top,
    settings: {
      columns: width,
      rows: height,
      zeroRow: forward === 'up' ? forwardRows : height - 1 - forwardRows,
      secondsPerColumn: (60 / waveform.beatsPerMinute) * (beats / width),
      velocityPerRow: reach / forwardRows,
      forward,
      wallFilter: anatomy.wallFilter ?? random.range(0.8, 0.05 * psv + 0.8),
      slowestShare: random.range(0.1, 0.6),
      broadening: random.range(0.015, 0.04),
      resolution: (random.range(0.6, 1.4) * reach) / 100,
      noise: random.range(-14, 7) - dynamicRange + (anatomy.noise ?? 0),
      mirror: random.range(-50, -26),
      dynamicRange,
      gain: random.range(-10, 2),
      vein: anatomy.vein ?? 0,
      blur: { time: random.range(0.7, 2), velocity: random.range(0.7, 1.6) },
    },
  };
}

function simulateSpectrum(vessel: Vessel, request: ViewRequest): PhantomFrame {
  const random = createRandom(request.seed);
  const anatomy = request.anatomy ?? {};
  const waveform = drawWaveform(vessel, anatomy, random.fork('waveform'));
  const display = drawDisplay(request, waveform, random.fork('display'));
  const { columns, rows, settings } = display;
  const seconds = settings.columns * settings.secondsPerColumn;
  const beats = beatsOverTime(
    waveform,
    seconds,
    anatomy.irregularity ?? 0.015,
    random.fork('beats'),
  );
  const spectrum = drawSpectrum(beats, settings, random.fork('speckle'));
  const gray = new Uint8Array(columns * rows);
  placeSpectrum(gray, display, spectrum);
  drawMarks(gray, display, random.fork('marks'));
  const { psv, edv, lowest, tamx } = truthOf(waveform);
  const extent = { across: 30, down: 30 };
  const view = drawVisibleView(extent, [], random.fork('view'), { columns, rows });
  return {
    columns,
    rows,
    gray,
    acquisition: drawAcquisition(view, random.fork('acquisition')),
    truth: {
      plane: vessel,
      mmPerPixel: view.window.mmPerPixel,
      values: {
        psvCmPerSecond: psv,
        edvCmPerSecond: edv,
        lowestCmPerSecond: lowest,
        tamxCmPerSecond: tamx,
        beatsPerMinute: waveform.beatsPerMinute,
        pulsatilityIndex: (psv - edv) / tamx,
        resistanceIndex: (psv - edv) / psv,
        ...displayValues(display),
      },
    },
  };
}

/**
 * SNOMED CT code of each vessel. It is null for the ductus venosus, whose code could not be
 * confirmed (obstetric 15.4).
 */
const REGION_CODES: Readonly<Record<Vessel, { code: string; meaning: string } | null>> = {
  'umbilical-artery': { code: '50536004', meaning: 'Umbilical artery' },
  'middle-cerebral-artery': { code: '17232002', meaning: 'Middle cerebral artery' },
  'uterine-artery': { code: '91079009', meaning: 'Uterine artery' },
  'ductus-venosus': null,
};

const VIEW_NAMES: Readonly<Record<Vessel, string>> = {
  'umbilical-artery': 'Umbilical A',
  'middle-cerebral-artery': 'MCA',
  'uterine-artery': 'Uterine A',
  'ductus-venosus': 'Ductus Venosus',
};

type Side = 'left' | 'right';

function spectrumView(
  id: string,
  vessel: Vessel,
  ages: PhantomView['ages'],
  side?: Side,
): PhantomView {
  return {
    id,
    ages,
    simulate: (request) => [simulateSpectrum(vessel, request)],
    header: ([frame]) => {
      const coded = REGION_CODES[vessel];
      const name = VIEW_NAMES[vessel];
      return {
        // The velocities are measured along the beam, without angle correction.
        regions: frame ? [{ ...spectralRegion(frame), DopplerCorrectionAngle: 0 }] : [],
        attributes: {
          ViewName: side ? `${side === 'left' ? 'Lt' : 'Rt'} ${name}` : name,
          ...(side ? { ImageLaterality: side === 'left' ? 'L' : 'R' } : {}),
          ...(coded
            ? {
                AnatomicRegionSequence: [
                  {
                    CodeValue: coded.code,
                    CodingSchemeDesignator: 'SCT',
                    CodeMeaning: coded.meaning,
                  },
                ],
              }
            : {}),
        },
      };
    },
  };
}

const SECOND_HALF = { youngest: 140, oldest: 280 };
const FROM_FIRST_TRIMESTER = { youngest: 77, oldest: 280 };

/**
 * Spectral Doppler of fetal and uterine vessels. `anatomy`: `psv` cm/s, `edvShare` of the peak (0:
 * absent, negative: reversed), `notch`, `aWaveShare`, `beatsPerMinute`, `beats` on the display,
 * `irregularity`, `scaleShare` (below 1: aliased), `wallFilter` cm/s, `noise` (additional dB),
 * `vein` cm/s.
 */
export const umbilicalArtery = spectrumView('umbilical-artery', 'umbilical-artery', SECOND_HALF);
export const middleCerebralArtery = spectrumView(
  'middle-cerebral-artery',
  'middle-cerebral-artery',
  SECOND_HALF,
);
export const leftUterineArtery = spectrumView(
  'left-uterine-artery',
  'uterine-artery',
  FROM_FIRST_TRIMESTER,
  'left',
);
export const rightUterineArtery = spectrumView(
  'right-uterine-artery',
  'uterine-artery',
  FROM_FIRST_TRIMESTER,
  'right',
);
export const ductusVenosus = spectrumView('ductus-venosus', 'ductus-venosus', FROM_FIRST_TRIMESTER);
