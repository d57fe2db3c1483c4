// Draws the plans in #data (memory_page.cc) into #plans. A view is one plan with its picture, the
// bytes alive below it, and the list of who holds them at a step.
'use strict';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 900, HEIGHT = 560, ALIVE_HEIGHT = 90, STEPS_HEIGHT = 16;
const LEFT = 76, RIGHT = 10, TOP = 12, BOTTOM = 22, GAP = 26;
const MOST_HOLDERS = 25;
const LEAST_NAME_WIDTH = 44, LEAST_NAME_HEIGHT = 11, NAME_MARGIN = 3;
const LEAST_EDGED_HEIGHT = 2;  // below it the white edges of a buffer would hide it
const STEP_TICKS = 10;

const plans = JSON.parse(document.getElementById('data').textContent);
const state = {entry: 0, share: null, pinned: false, search: ''};  // share: of the time, 0 to 1

function formatBytes(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0, value = bytes;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; ++unit; }
  if (unit === 0) return `${bytes} B`;
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${halfToEven(value, digits).toFixed(digits)} ${units[unit]}`;
}

// As the program rounds in its tables: 3.125 is 3.12 there.
function halfToEven(value, digits) {
  const scaled = value * 10 ** digits, floor = Math.floor(scaled);
  return (scaled - floor === 0.5 ? floor + floor % 2 : Math.round(scaled)) / 10 ** digits;
}

// On a scale: "4 MiB", not "4.00 MiB".
const formatTick = bytes => formatBytes(Math.round(bytes)).replace(/\.0+ /, ' ');

function svgElement(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function htmlElement(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Bytes alive at each step: a sum of differences.
function aliveBytes(buffers, persistentBytes, steps) {
  const change = new Array(steps + 1).fill(0);
  for (const buffer of buffers) {
    change[buffer.lower] += buffer.bytes;
    change[buffer.upper] -= buffer.bytes;
  }
  let sum = persistentBytes;
  return change.slice(0, steps).map(bytes => sum += bytes);
}

function describe(buffer, steps) {
  const when = buffer.lower === undefined ? 'always'
      : buffer.upper - buffer.lower >= steps ? 'all steps'
      : `steps ${buffer.lower} to ${buffer.upper - 1}`;
  const parts = [formatBytes(buffer.bytes), buffer.zone, when, `offset ${buffer.offset}`];
  if (buffer.again) parts.push('recomputed');
  if (buffer.swapped) parts.push('swapped');
  if (buffer.alone) parts.push('smaller, on one thread');
  if (buffer.source) parts.push(buffer.source);
  return parts.join(', ');
}

const measure = document.createElement('canvas').getContext('2d');
measure.font = '10px system-ui, sans-serif';  // as .name in the style
const textWidth = text => measure.measureText(text).width;

// As ShortenName() of text_width.cc: a name "path.layer.what" loses its path, then its middle: its
// first part says which layer it is of.
function shorten(name, room) {
  if (textWidth(name) <= room) return name;
  const pathEnd = name.indexOf('.');
  const text = pathEnd > 0 ? name.slice(pathEnd + 1) : name;
  if (textWidth(text) <= room) return text;
  const left = room - textWidth('…');
  const firstPart = textWidth(text.split(/[. ]/, 1)[0]);
  const beginning = firstPart <= 0.9 * left ? Math.max(0.6 * left, firstPart) : 0.6 * left;
  let end = text.length - 1, begin = 0;  // what is between them is left out
  while (end > 0 && textWidth(text.slice(0, end)) > beginning) --end;
  const rest = left - textWidth(text.slice(0, end));
  while (begin < text.length && textWidth(text.slice(begin)) > rest) ++begin;
  return text.slice(0, end).replace(/\.+$/, '') + '…' + text.slice(begin).replace(/^\.+/, '');
}

// Round steps, at most STEP_TICKS of them.
function stepTicks(steps) {
  let every = 1;
  for (let power = 1; steps / every > STEP_TICKS; power *= 10) {
    every = [power, 2 * power, 5 * power, 10 * power].find(size => steps / size <= STEP_TICKS) ?? 10 * power;
  }
  return Array.from({length: Math.ceil(steps / every)}, (_, i) => i * every);
}

// 0, `top`, and multiples of a power of two between them.
function ticksUpTo(top) {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(top / 3.5)));
  const ticks = [];
  for (let address = 0; address <= top - step / 3; address += step) ticks.push(address);
  return ticks.concat(top);
}

class View {
  constructor(plan) {
    this.plan = plan;
    this.status = htmlElement('div', {class: 'status'});
    this.holders = htmlElement('table', {class: 'holders'});
    this.picture = htmlElement('div', {});
    this.root = htmlElement('section', plans.length > 1 ? {} : {class: 'beside'});
    this.scale = htmlElement('span', {class: 'of-scale'});
    if (plans.length > 1) this.root.append(htmlElement('h2', {}, plan.title, ' ', this.scale));
    this.root.append(this.picture, htmlElement('div', {class: 'list'}, this.status, this.holders));
  }

  draw() {
    this.entry = this.plan.entries[Math.min(state.entry, this.plan.entries.length - 1)];
    this.buffers = this.plan.persistent.concat(this.entry.buffers);
    this.steps = this.entry.buffers.reduce((most, buffer) => Math.max(most, buffer.upper), 1);
    const persistentBytes = this.plan.persistent.reduce((sum, buffer) => sum + buffer.bytes, 0);
    this.alive = aliveBytes(this.entry.buffers, persistentBytes, this.steps);
    this.peak = this.alive.indexOf(Math.max(...this.alive));
    // Each plan fills its picture: on the scale of the largest, names in the smallest had no room.
    this.top = Math.max(this.entry.bytes, 1);
    this.aliveTop = Math.max(this.entry.bound, 1);
    this.showScale();
    const height = HEIGHT + GAP + ALIVE_HEIGHT + STEPS_HEIGHT;
    this.svg = svgElement('svg', {viewBox: `0 0 ${WIDTH} ${height}`, role: 'img',
                                  'aria-label': 'memory over time'});
    this.drawPatterns();
    this.drawBuffers();
    this.drawAxes();
    this.drawAlive();
    this.cursor = svgElement('line', {class: 'cursor', y1: TOP, y2: height, visibility: 'hidden'});
    this.svg.append(this.cursor);
    this.svg.addEventListener('mousemove', event => this.point(event));
    this.svg.addEventListener('mouseleave', () => { if (!state.pinned) pointAt(null); });
    this.svg.addEventListener('click', event => this.pin(event));
    this.picture.replaceChildren(this.svg);
  }

  x(step) { return LEFT + step / this.steps * (WIDTH - LEFT - RIGHT); }
  y(address) { return HEIGHT - BOTTOM - address / this.top * (HEIGHT - TOP - BOTTOM); }
  aliveY(bytes) { return HEIGHT + GAP + ALIVE_HEIGHT - 4 - bytes / this.aliveTop * (ALIVE_HEIGHT - 4); }

  // The first plan is what the others are compared with.
  first() { return plans[0].entries[Math.min(state.entry, plans[0].entries.length - 1)]; }

  showScale() {
    const times = this.top / Math.max(this.first().bytes, 1);
    const beside = this.plan === plans[0] ? '' : `, ${times.toFixed(2)} × that of ${plans[0].title}`;
    this.scale.textContent = `scale up to ${formatBytes(this.top)}${beside}`;
  }

  // Hatched: what is recomputed, one way, and what is swapped, the other way.
  drawPatterns() {
    const definitions = svgElement('defs', {});
    for (const [id, angle] of [['again', 45], ['swapped', -45]]) {
      const pattern = svgElement('pattern', {id, width: 6, height: 6,
          patternUnits: 'userSpaceOnUse', patternTransform: `rotate(${angle})`});
      pattern.append(svgElement('line', {y2: 6, stroke: '#1c2733', 'stroke-width': 1.2}));
      definitions.append(pattern);
    }
    this.svg.append(definitions);
  }

  drawBuffers() {
    this.shapes = new Map();
    for (const buffer of this.buffers) {
      const left = this.x(buffer.lower ?? 0), right = this.x(buffer.upper ?? this.steps);
      const top = this.y(buffer.offset + buffer.bytes), bottom = this.y(buffer.offset);
      const box = {x: left, y: top, width: right - left, height: bottom - top};
      const shape = svgElement('rect', {...box, class: `buffer ${buffer.zone}${box.height < LEAST_EDGED_HEIGHT ? ' thin' : ''}`});
      shape.append(svgElement('title', {}, `${buffer.name}\n${describe(buffer, this.steps)}`));
      this.shapes.set(buffer, shape);
      this.svg.append(shape);
      for (const mark of ['again', 'swapped']) {
        if (buffer[mark]) this.svg.append(svgElement('rect', {...box, class: mark}));
      }
      this.drawName(buffer.name, box);
    }
  }

  // Across; upright where it does not fit so and there is more room that way.
  drawName(name, box) {
    const fits = textWidth(name) + 2 * NAME_MARGIN <= box.width;
    const upright = box.width < LEAST_NAME_WIDTH || (!fits && box.height > box.width);
    const [room, across] = upright ? [box.height, box.width] : [box.width, box.height];
    if (room < LEAST_NAME_WIDTH || across < LEAST_NAME_HEIGHT) return;
    const x = upright ? box.x + box.width / 2 + 4 : box.x + NAME_MARGIN;
    const y = upright ? box.y + box.height - NAME_MARGIN : box.y + box.height / 2 + 4;
    const place = upright ? {transform: `translate(${x} ${y}) rotate(-90)`} : {x, y};
    this.svg.append(svgElement('text', {...place, class: 'name'}, shorten(name, room - 2 * NAME_MARGIN)));
  }

  drawAxes() {
    for (const address of ticksUpTo(this.top)) {
      this.svg.append(svgElement('text', {x: LEFT - 6, y: this.y(address) + 4, class: 'right'},
                                 formatTick(address)));
    }
    const bound = this.y(this.entry.bound);
    this.svg.append(svgElement('line', {class: 'bound', x1: LEFT, x2: WIDTH - RIGHT, y1: bound, y2: bound}));
    if (this.plan !== plans[0]) {
      const top = this.y(this.first().bytes);
      this.svg.append(svgElement('line', {class: 'first', x1: LEFT, x2: WIDTH - RIGHT, y1: top, y2: top}));
    }
    const peak = this.x(this.peak + 0.5);
    this.svg.append(svgElement('line', {class: 'peak', x1: peak, x2: peak, y1: TOP, y2: HEIGHT - BOTTOM}));
    this.svg.append(svgElement('text', {x: (LEFT + WIDTH) / 2, y: HEIGHT - 6, class: 'middle'},
                               `${this.steps} operators, one after another`));
  }

  drawAlive() {
    let path = `M${this.x(0)} ${this.aliveY(0)}`;
    this.alive.forEach((bytes, step) => {
      path += `L${this.x(step)} ${this.aliveY(bytes)}L${this.x(step + 1)} ${this.aliveY(bytes)}`;
    });
    this.svg.append(svgElement('path', {class: 'alive', d: `${path}L${this.x(this.steps)} ${this.aliveY(0)}Z`}));
    this.svg.append(svgElement('text', {x: LEFT, y: HEIGHT + GAP - 6}, 'bytes alive at each step'));
    for (const bytes of [0, this.alive[this.peak] / 2, this.alive[this.peak]]) {
      const y = this.aliveY(bytes);
      this.svg.append(svgElement('line', {class: 'scale', x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y}));
      this.svg.append(svgElement('text', {x: LEFT - 6, y: y + 4, class: 'right'}, formatTick(bytes)));
    }
    for (const step of stepTicks(this.steps)) {
      this.svg.append(svgElement('text', {x: this.x(step + 0.5), y: this.aliveY(0) + 14, class: 'middle'}, step));
    }
  }

  shareAt(event) {
    const box = this.svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * WIDTH;
    return Math.min(0.999999, Math.max(0, (x - LEFT) / (WIDTH - LEFT - RIGHT)));
  }
  point(event) { if (!state.pinned) pointAt(this.shareAt(event)); }
  pin(event) {
    state.pinned = !state.pinned;
    pointAt(this.shareAt(event));
  }

  // Shows a step: the one at `share` of the time, or without one the peak.
  show(share) {
    const step = share === null ? this.peak : Math.floor(share * this.steps);
    this.cursor.setAttribute('visibility', share === null ? 'hidden' : 'visible');
    for (const end of ['x1', 'x2']) this.cursor.setAttribute(end, this.x(step + 0.5));
    const bytes = this.alive[step];
    const alive = this.buffers.filter(buffer => (buffer.lower ?? 0) <= step && step < (buffer.upper ?? this.steps));
    alive.sort((a, b) => b.bytes - a.bytes);
    this.status.replaceChildren(
        htmlElement('b', {}, share === null ? `Peak, at step ${step}: ` : `Step ${step}: `),
        `${formatBytes(bytes)} alive in ${alive.length} buffers, ${(100 * bytes / this.entry.bytes).toFixed(1)} % of ` +
        `the ${formatBytes(this.entry.bytes)} of '${this.entry.name}'; its lower bound is ${formatBytes(this.entry.bound)}.`);
    this.listHolders(alive, bytes);
  }

  listHolders(alive, bytes) {
    const rows = alive.slice(0, MOST_HOLDERS).map(buffer => {
      const row = htmlElement('tr', {},
          htmlElement('td', {class: 'number'}, formatBytes(buffer.bytes)),
          htmlElement('td', {class: 'number'}, `${(100 * buffer.bytes / bytes).toFixed(1)} %`),
          htmlElement('td', {}, htmlElement('i', {class: buffer.zone}), (buffer.values ?? [buffer.name]).join(' = '),
                      htmlElement('div', {class: 'source'}, buffer.source ?? '')));
      row.addEventListener('mouseenter', () => this.shapes.get(buffer).classList.add('pointed'));
      row.addEventListener('mouseleave', () => this.shapes.get(buffer).classList.remove('pointed'));
      return row;
    });
    const rest = alive.slice(MOST_HOLDERS);
    if (rest.length > 0) {
      const sum = rest.reduce((total, buffer) => total + buffer.bytes, 0);
      rows.push(htmlElement('tr', {}, htmlElement('td', {class: 'number'}, formatBytes(sum)),
                            htmlElement('td', {class: 'number'}, `${(100 * sum / bytes).toFixed(1)} %`),
                            htmlElement('td', {}, `${rest.length} smaller ones`)));
    }
    this.holders.replaceChildren(...rows);
  }

  mark(search) {
    for (const [buffer, shape] of this.shapes) {
      const names = [buffer.name, ...(buffer.values ?? [])];
      shape.classList.toggle('found', search !== '' && names.some(name => name.includes(search)));
    }
  }
}

const views = plans.map(plan => new View(plan));

function pointAt(share) {
  state.share = share;
  for (const view of views) view.show(share);
}

function drawAll() {
  state.pinned = false;
  for (const view of views) {
    view.draw();
    view.mark(state.search);
  }
  pointAt(null);
}

function addControls() {
  const controls = document.getElementById('controls');
  const select = htmlElement('select', {'aria-label': 'entry point'});
  plans[0].entries.forEach((entry, i) => select.append(htmlElement('option', {value: i}, entry.name)));
  select.addEventListener('change', () => {
    state.entry = Number(select.value);
    drawAll();
  });
  if (plans[0].entries.length > 1) controls.append(htmlElement('label', {}, 'entry point ', select));
  const search = htmlElement('input', {type: 'search', placeholder: 'name of a value'});
  search.addEventListener('input', () => {
    state.search = search.value.trim();
    for (const view of views) view.mark(state.search);
  });
  controls.append(htmlElement('label', {}, 'find ', search));
  for (const zone of ['forward', 'gradient', 'optimizer', 'workspace']) {
    controls.append(htmlElement('span', {class: 'key'}, htmlElement('i', {class: zone}), zone));
  }
  const line = (kind, text) => {
    const svg = svgElement('svg', {class: 'sign', viewBox: '0 0 18 12', width: 18, height: 12});
    svg.append(svgElement('line', {class: kind, x1: 0, x2: 18, y1: 6, y2: 6}));
    controls.append(htmlElement('span', {class: 'key'}, svg, text));
  };
  line('bound', 'lower bound');
  line('peak', 'step of the peak');
  if (plans.length > 1) line('first', `all that ${plans[0].title} takes`);
  for (const [mark, text] of [['again', 'recomputed'], ['swapped', 'swapped']]) {
    if (plans.some(plan => plan.entries.some(entry => entry.buffers.some(buffer => buffer[mark])))) {
      controls.append(htmlElement('span', {class: 'key'}, htmlElement('i', {class: `key-${mark}`}), text));
    }
  }
}

addControls();
document.getElementById('plans').append(...views.map(view => view.root));
drawAll();
