//! A collector that counts chats, the searches made for them, and how long they took. What it
//! keeps is one struct: the window. abi/README.md has the contract.
const std = @import("std");

// Events, and fields of one.
const chat = 15;
const Field = enum(u32) { outcome = 0, searches = 4, latency = 7, source = 9 };
const answered = 1; // an outcome

// Tags of metrics; by comes on top of one.
const Tag = enum(u16) { int = 3, ratio = 4 };
const by = 0x80;

const BySource = extern struct { source: u64 = 0, latency: u64 = 0, chats: u64 = 0 };
const Window = extern struct {
    chats: u64 = 0,
    answered: u64 = 0,
    searches: u64 = 0,
    latency: u64 = 0,
    by: [65]BySource = @splat(.{}), // the first whose source is not 0; "other" is among them
};
var window: Window = .{};

// The host writes here: at most a sixteenth of the memory that the manifest asks for.
var input: [1 << 17]u8 align(8) = undefined;
var output: [1 << 12]u8 = undefined;
var out: usize = 0;

export fn parley_abi() u32 {
    return 2;
}

export fn parley_input(size: u32) u32 {
    return if (size <= input.len) @intCast(@intFromPtr(&input)) else 0;
}

fn read(comptime T: type, at: usize) T {
    return std.mem.readInt(T, input[at..][0..@sizeOf(T)], .little);
}

fn put(comptime T: type, v: T) void {
    std.mem.writeInt(T, output[out..][0..@sizeOf(T)], v, .little);
    out += @sizeOf(T);
}

/// span is the result of a call: an address, and so many bytes.
fn span(at: *const anyopaque, len: usize) u64 {
    return @as(u64, @intCast(@intFromPtr(at))) << 32 | len;
}

export fn parley_observe(len: u32) u32 {
    var at: usize = 0;
    var taken: u32 = 0;
    while (at + 8 <= len) : (taken += 1) {
        const kind = read(u16, at);
        const fields = read(u16, at + 2);
        const size = 8 + 8 * @as(usize, fields);
        if (at + size > len) break;
        if (kind == chat) observe(at, fields); // a kind that it does not know counts as taken
        at += size;
    }
    return taken;
}

/// field is one of the record at a place; what it lacks is 0.
fn field(at: usize, fields: u16, f: Field) u64 {
    return if (@intFromEnum(f) < fields) read(u64, at + 8 + 8 * @as(usize, @intFromEnum(f))) else 0;
}

fn observe(at: usize, fields: u16) void {
    const latency = field(at, fields, .latency);
    window.chats +%= 1;
    window.answered +%= @intFromBool(field(at, fields, .outcome) == answered);
    window.searches +%= field(at, fields, .searches);
    window.latency +%= latency;
    const source = field(at, fields, .source); // a handle; 0 is none
    if (source == 0) return;
    for (&window.by) |*b| {
        if (b.source != 0 and b.source != source) continue;
        b.source = source;
        b.latency +%= latency;
        b.chats +%= 1;
        return;
    }
}

/// metric puts one of the manifest, by its place there.
fn metric(place: u16, tag: Tag, values: []const u64) void {
    put(u16, place);
    put(u16, @intFromEnum(tag) | @as(u16, if (values.len == 3) by else 0));
    put(u32, @intCast(values.len));
    for (values) |v| put(u64, v);
}

export fn parley_flush(len: u32) u64 {
    out = 0;
    if (len < 4) {
        put(u32, 1); // malformed
        return span(&output, out) | 1 << 31;
    }
    metric(0, .int, &.{window.chats});
    metric(1, .int, &.{window.answered});
    metric(2, .int, &.{window.searches});
    if (window.chats > 0) metric(3, .ratio, &.{ window.latency, window.chats });
    for (window.by) |b| {
        if (b.source == 0) break;
        metric(4, .ratio, &.{ b.source, b.latency, b.chats });
    }
    if (input[0] & 1 != 0) window = .{}; // the flag reset
    return span(&output, out);
}

// What is saved is the window, behind a word that says whose it is.
const mine = 0x3167697a;
var saved: extern struct { whose: u32, unused: u32 = 0, window: Window } = undefined;

export fn parley_save() u64 {
    saved = .{ .whose = mine, .window = window };
    return span(&saved, @sizeOf(@TypeOf(saved)));
}

export fn parley_load(len: u32) u32 {
    if (len != @sizeOf(@TypeOf(saved))) return 0;
    @memcpy(std.mem.asBytes(&saved), input[0..len]);
    if (saved.whose != mine) return 0;
    window = saved.window;
    return 1;
}
