import type { NaturalDataset } from 'dcmjs';
import { drawAcquisition, drawVisibleView } from '../acquisition.ts';
import type { PhantomFrame } from '../frame.ts';
import { drawText, GLYPH } from '../glyphs.ts';
import { createRandom, type Random } from '../random.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { drawSpectrum, type SpectrumSettings } from './spectrum-picture.ts';
import { drawWaveform, truthOf, type Vessel, type Waveform } from './spectrum-waveform.ts';

const SCREENS = [
  { columns: 640, rows: 480 },
  { columns: 800, rows: 600 },
  { columns: 1024, rows: 768 },
] as const;

/** Where the display stands on the screen and how it was set. */
interface Display {
  columns: number;
  rows: number;
  left: number;
  top: number;
  settings: SpectrumSettings;
}

/**
 * The flow fills half to nine tenths of its side. `anatomy.scaleShare` says how much of the peak
 * the scale reaches: below 1 the peak aliases.
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

/** The fastest velocity over time, beat by beat, each a little other than the last. */
function beatsOverTime(
  waveform: Waveform,
  seconds: number,
  irregularity: number,
  random: Random,
): (time: number) => number {
  const mean = 60 / waveform.beatsPerMinute;
  const beats: { from: number; length: number; size: number }[] = [];
  for (let from = -random.unit() * mean; from < seconds; ) {
    const length = mean * (1 + irregularity * random.range(-1.7, 1.7));
    beats.push({ from, length, size: 1 + 0.02 * random.normal(0, 1) });
    from += length;
  }
  return (time) => {
    const beat = beats.findLast(({ from }) => from <= time);
    return beat ? beat.size * waveform.velocity((time - beat.from) / beat.length) : 0;
  };
}

/** Baseline, ticks at both axes, the scale's figures and the settings: never part of the flow. */
function drawMarks(gray: Uint8Array, display: Display, random: Random): void {
  const { columns, rows, left, top, settings } = display;
  const plot = (column: number, row: number, level: number) => {
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    gray[row * columns + column] = level;
  };
  const level = random.integer(110, 255);
  const thick = random.integer(1, 2);
  for (let column = left; column < left + settings.columns; column++) {
    for (let i = 0; i < thick; i++) plot(column, top + settings.zeroRow + i, level);
  }
  const step = 20 / settings.velocityPerRow;
  const right = left + settings.columns + 4;
  for (let tick = -12; tick <= 12; tick++) {
    const row = Math.round(top + settings.zeroRow - tick * step);
    if (row < top || row >= top + settings.rows) continue;
    for (let i = 0; i < 5; i++) plot(right + i, row, 220);
    drawText(String(20 * tick), (x, y) => plot(right + 8 + x, row - 3 + y, 220));
  }
  const second = 1 / settings.secondsPerColumn;
  for (let column = left; column < left + settings.columns; column += second / 5) {
    for (let i = 0; i < 4; i++) plot(Math.round(column), top + settings.rows + 2 + i, 220);
  }
  if (random.chance(0.5)) {
    // Dots of a grid lie on the flow itself.
    for (let column = left; column < left + settings.columns; column += second) {
      for (let tick = -12; tick <= 12; tick++) {
        const row = Math.round(top + settings.zeroRow - tick * step);
        if (row >= top && row < top + settings.rows) plot(Math.round(column), row, 150);
      }
    }
  }
  const lines = ['PHANTOM', `PRF ${random.range(2, 9).toFixed(1)}`, `GN ${random.integer(0, 60)}`];
  for (const [line, text] of lines.entries()) {
    drawText(text, (x, y) => plot(14 + x, 10 + line * GLYPH.lineHeight + y, level));
  }
}

function simulateSpectrum(vessel: Vessel, request: ViewRequest): PhantomFrame {
  const random = createRandom(request.seed);
  const anatomy = request.anatomy ?? {};
  const waveform = drawWaveform(vessel, anatomy, random.fork('waveform'));
  const display = drawDisplay(request, waveform, random.fork('display'));
  const { columns, rows, left, top, settings } = display;
  const seconds = settings.columns * settings.secondsPerColumn;
  const beats = beatsOverTime(
    waveform,
    seconds,
    anatomy.irregularity ?? 0.015,
    random.fork('beats'),
  );
  const spectrum = drawSpectrum(beats, settings, random.fork('speckle'));
  const gray = new Uint8Array(columns * rows);
  for (let row = 0; row < settings.rows; row++) {
    const from = row * settings.columns;
    gray.set(spectrum.subarray(from, from + settings.columns), (top + row) * columns + left);
  }
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
        leftPixel: left,
        topPixel: top,
        rightPixel: left + settings.columns - 1,
        bottomPixel: top + settings.rows - 1,
        zeroRowPixel: settings.zeroRow,
        secondsPerColumn: settings.secondsPerColumn,
        cmPerSecondPerRow: settings.velocityPerRow,
      },
    },
  };
}

/** SNOMED CT, obstetric reference 15.4; that of the ductus venosus is not confirmed there. */
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

/** One PW region: seconds along x, cm/s along y, the baseline as reference pixel (C.8.5.5.1). */
function spectralRegion({ truth }: PhantomFrame): NaturalDataset {
  const at = (name: string) => truth.values?.[name] ?? 0;
  return {
    RegionSpatialFormat: 3,
    RegionDataType: 3,
    RegionFlags: 0,
    RegionLocationMinX0: at('leftPixel'),
    RegionLocationMinY0: at('topPixel'),
    RegionLocationMaxX1: at('rightPixel'),
    RegionLocationMaxY1: at('bottomPixel'),
    ReferencePixelX0: 0,
    ReferencePixelY0: at('zeroRowPixel'),
    PhysicalUnitsXDirection: 4,
    PhysicalUnitsYDirection: 7,
    ReferencePixelPhysicalValueX: 0,
    ReferencePixelPhysicalValueY: 0,
    PhysicalDeltaX: at('secondsPerColumn'),
    PhysicalDeltaY: -at('cmPerSecondPerRow'),
  };
}

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
        regions: frame ? [spectralRegion(frame)] : [],
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
 * absent, below: reversed), `notch`, `aWaveShare`, `beatsPerMinute`, `beats` on the display,
 * `irregularity`, `scaleShare` (below 1: aliased), `wallFilter` cm/s, `noise` dB more, `vein` cm/s.
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
