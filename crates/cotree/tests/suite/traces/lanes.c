#include <immintrin.h>
#include <stdio.h>
#include <string.h>

float from[48], to[48];
int numbers[32];
char bytes[16];
int lanes[8] = {-1, 0, -1, 0, 0, 0, 0, -1};
int places[16] = {3, -1, 0, 7, 1, 1, 9, 2, -4, 5, 6, 8, 10, 11, 12, -2};
long long wide_places[4] = {6, -1, 2, 0};
char some[16] = {1, -1, 0, -128, 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2};
unsigned short mask = 0x8005;
char state[512] __attribute__((aligned(16)));

#define FOR(what) __attribute__((noinline, target(what)))

FOR("avx2") void masked(void) {
  __m256i active = _mm256_loadu_si256((__m256i *)lanes);
  __m256 read = _mm256_maskload_ps(from + 2, active);
  _mm256_maskstore_ps(to, active, read);
}

FOR("avx2") int gathered(void) {
  __m256i active = _mm256_loadu_si256((__m256i *)lanes), at = _mm256_loadu_si256((__m256i *)places);
  __m256i wide = _mm256_loadu_si256((__m256i *)wide_places);
  __m256i read = _mm256_mask_i32gather_epi32(at, numbers + 4, at, active, 4);
  __m128 narrow = _mm256_i64gather_ps(from + 8, wide, 4);
  return _mm256_extract_epi32(read, 7) + (int)narrow[1];
}

FOR("sse2") void moved(void) {
  _mm_maskmoveu_si128(_mm_setzero_si128(), _mm_loadu_si128((__m128i *)some), bytes);
}

// What is read need not be there: else LLVM reads all of it, and forgets lanes afterwards.
FOR("avx512f") void wide_masked(float *from) {
  __m512i at = _mm512_loadu_si512(places);
  __m512 read = _mm512_maskz_loadu_ps(mask, from + 1);
  _mm512_mask_storeu_ps(to + 4, mask, read);
  _mm512_mask_compressstoreu_ps(to + 8, mask, read);
  read = _mm512_add_ps(read, _mm512_maskz_expandloadu_ps(mask, from + 3));
  read = _mm512_mask_i32gather_ps(read, mask, at, from + 16, 4);
  _mm512_mask_i32scatter_ps(to + 16, mask, at, read, 4);
}

FOR("avx512f") void none_active(void) {
  _mm512_mask_storeu_ps(to, mask & 0x10, _mm512_setzero_ps());
  _mm512_mask_compressstoreu_ps(to, mask & 0x10, _mm512_setzero_ps());
}

FOR("fxsr") void special(void) {
  _fxsave(state);
  mask += *(long __seg_fs *)0 == 0;
}

int main(int argc, char **argv) {
  printf("from %p to %p numbers %p bytes %p\n", (void *)from, (void *)to, (void *)numbers, (void *)bytes);
  if (strchr(argv[1], '2')) masked(), numbers[0] += gathered(), moved();
  if (strchr(argv[1], '5')) wide_masked(from), none_active();
  if (strchr(argv[1], 's')) special();
  return 0;
}
