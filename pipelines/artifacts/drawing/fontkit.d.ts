/** Types for the part of fontkit that is used here, because the package has no types. */
declare module 'fontkit' {
  export interface Glyph {
    path: {
      scale(factor: number): Glyph['path'];
      commands: readonly { command: string; args: readonly number[] }[];
    };
  }

  export interface GlyphRun {
    glyphs: readonly Glyph[];
    positions: readonly { xAdvance: number; xOffset: number; yOffset: number }[];
    advanceWidth: number;
  }

  export interface Font {
    unitsPerEm: number;
    layout(text: string): GlyphRun;
    hasGlyphForCodePoint(codePoint: number): boolean;
  }

  export function openSync(path: string): Font;
}
