/*
 * Preloaded into the database servers of `npm run verify -- --cluster` (host-faults.ts): moves the
 * wall clock of their host, and lets its disk fail. All processes of a host map one control file,
 * which the test writes. The monotonic clock continues, as on a real machine.
 *
 * A failing flush returns EIO, and the bytes of the write-ahead log that were waiting for it are
 * lost: Linux drops what it could not write. That is why writes to the log are recorded here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The layout is known to host-faults.ts. */
struct control {
  int64_t clock_offset_nanoseconds;
  int64_t is_failing;
  /* Calls that failed. */
  int64_t failures;
  /* Flushes that succeeded. A write before the latest one may be durable and is kept. */
  int64_t flushes;
};

struct log_write {
  int file;
  ino_t inode;
  off_t position;
  size_t length;
  int64_t flushes;
  char *before;
};

#define NANOSECONDS 1000000000LL
#define LOG_WRITES_MAX 256

static struct control none;
static struct control *control = &none;
static struct log_write log_writes[LOG_WRITES_MAX];
static int log_writes_count;

#define REAL(name) ((typeof(&name))real(#name))

static void *real(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void open_control(void) {
  const char *path = getenv("ETAGERE_HOST_FAULTS");
  if (path == NULL) return;
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) control = mapped;
}

static int64_t offset(void) {
  return __atomic_load_n(&control->clock_offset_nanoseconds, __ATOMIC_RELAXED);
}

static void move(struct timespec *at) {
  int64_t all = at->tv_sec * NANOSECONDS + at->tv_nsec + offset();
  at->tv_sec = all / NANOSECONDS;
  at->tv_nsec = all % NANOSECONDS;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  static typeof(&clock_gettime) known;
  if (known == NULL) known = REAL(clock_gettime);
  int result = known(clock, at);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) move(at);
  return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  struct timespec now;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at != NULL) *at = now.tv_sec;
  return now.tv_sec;
}

static int is_log(int file) {
  char link[64], path[512];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return strstr(path, "/pg_wal/") != NULL;
}

static void forget_log_writes(void) {
  for (int at = 0; at < log_writes_count; at += 1) free(log_writes[at].before);
  log_writes_count = 0;
}

/* Keeps the bytes that a write to the log is about to replace. */
static void record(int file, off_t position, size_t length) {
  if (control == &none || !is_log(file)) return;
  int64_t flushes = __atomic_load_n(&control->flushes, __ATOMIC_SEQ_CST);
  if (log_writes_count > 0 && log_writes[0].flushes != flushes) forget_log_writes();
  if (log_writes_count == LOG_WRITES_MAX) return;
  struct stat about;
  char *before = calloc(1, length);
  if (before == NULL || fstat(file, &about) != 0 || pread(file, before, length, position) < 0) {
    free(before);
    return;
  }
  log_writes[log_writes_count++] = (struct log_write){
      .file = file,
      .inode = about.st_ino,
      .position = position,
      .length = length,
      .flushes = flushes,
      .before = before,
  };
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t position) {
  record(file, position, length);
  return REAL(pwrite)(file, bytes, length, position);
}

/* Undoes the writes of this process that no flush has made durable, the latest first. */
static void lose_log_writes(void) {
  int64_t flushes = __atomic_load_n(&control->flushes, __ATOMIC_SEQ_CST);
  for (int at = log_writes_count - 1; at >= 0; at -= 1) {
    struct log_write *write = &log_writes[at];
    struct stat about;
    if (write->flushes != flushes || fstat(write->file, &about) != 0) continue;
    if (about.st_ino != write->inode) continue;
    REAL(pwrite)(write->file, write->before, write->length, write->position);
  }
  forget_log_writes();
}

static int fails(void) {
  if (!__atomic_load_n(&control->is_failing, __ATOMIC_SEQ_CST)) return 0;
  __atomic_add_fetch(&control->failures, 1, __ATOMIC_SEQ_CST);
  lose_log_writes();
  errno = EIO;
  return 1;
}

static int flushed(int result) {
  if (result == 0) __atomic_add_fetch(&control->flushes, 1, __ATOMIC_SEQ_CST);
  return result;
}

int fsync(int file) {
  return fails() ? -1 : flushed(REAL(fsync)(file));
}

int fdatasync(int file) {
  return fails() ? -1 : flushed(REAL(fdatasync)(file));
}

int msync(void *address, size_t length, int flags) {
  return fails() ? -1 : REAL(msync)(address, length, flags);
}

int sync_file_range(int file, off64_t position, off64_t length, unsigned int flags) {
  return fails() ? -1 : REAL(sync_file_range)(file, position, length, flags);
}
