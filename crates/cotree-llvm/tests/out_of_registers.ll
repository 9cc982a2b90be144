; Calls that carry values over which LLVM 22 runs out of registers, if these may be in registers there
; (-use-registers-for-deopt-values): what is left of a large function. It is compiled, never run.
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare void @llvm.lifetime.end.p0(ptr)

define i32 @caller(ptr %0, i32 %1, ptr %2, i1 %3, ptr %4, ptr %5, i64 %6, i32 %7, i64 %8) #0 {
  %10 = load ptr, ptr null, align 8, !invariant.load !0
  %11 = load ptr, ptr %0, align 8
  %12 = call i32 null(ptr null, ptr null)
  %13 = icmp eq i32 1, 0
  br i1 %13, label %14, label %.loopexit

14:
  %15 = getelementptr i8, ptr %0, i64 280
  %16 = load ptr, ptr %15, align 8
  %17 = load ptr, ptr %0, align 8
  %18 = getelementptr i8, ptr %17, i64 8
  %19 = load i32, ptr %18, align 8
  %20 = add i32 %19, 0
  %21 = call i32 null(ptr null, ptr %16, i32 %20)
  %22 = icmp eq i32 0, 0
  br i1 %22, label %23, label %.loopexit

23:
  %24 = call i32 null(ptr %11, ptr %2, i32 0, ptr null)
  %25 = select i1 false, i1 false, i1 false
  br i1 %3, label %26, label %49

26:
  %27 = getelementptr i8, ptr %0, i64 96
  %28 = getelementptr i8, ptr %0, i64 184
  %29 = getelementptr i8, ptr %0, i64 32
  %30 = getelementptr i8, ptr %4, i64 346450496
  br label %.peel.begin

.peel.begin:
  %.1 = phi i64 [ 0, %26 ], [ 1, %counted.exit41 ]
  %31 = call i32 null(ptr %0, i32 0, i64 0, ptr null, ptr null) [ "deopt"(i32 0, i32 0, i64 0) ]
  %cond = icmp eq i32 0, 0
  br i1 %cond, label %32, label %.loopexit135

32:
  %33 = load i32, ptr null, align 8
  %34 = add i64 %.1, 1
  %35 = load i64, ptr %27, align 8
  %36 = sub i64 0, %35
  %37 = add i64 0, 1
  %38 = sdiv i64 %36, %37
  %39 = trunc i64 %38 to i32
  %40 = add i64 %34, 0
  %41 = call i32 null(ptr %0, i32 0) [ "deopt"(i32 0, i32 0, i64 %40) ]
  store i32 0, ptr %29, align 8
  %42 = add i64 0, 0
  %43 = icmp eq i32 %39, 0
  br i1 %43, label %counted.exit39.peel, label %.loopexit134

counted.exit39.peel:
  %44 = getelementptr i64, ptr %5, i64 %6
  store i64 0, ptr null, align 8
  br i1 false, label %.loopexit132, label %.loopexit

.loopexit134:
  %45 = add i64 0, 0
  %46 = call i32 @callee(ptr null) [ "deopt"(i32 0, i32 0, i64 0) ]
  switch i32 %7, label %48 [
    i32 522, label %51
    i32 101, label %counted.exit41
  ]

counted.exit41:
  %47 = getelementptr i64, ptr %5, i64 %8
  br label %.peel.begin

48:
  br label %49

49:
  ret i32 0

.loopexit135:
  %50 = add i64 0, 0
  br label %.loopexit

.loopexit:
  %.10 = phi i64 [ 0, %14 ], [ 0, %.loopexit135 ], [ 0, %counted.exit39.peel ], [ 1, %9 ]
  br label %99

51:
  br label %.loopexit132

.loopexit132:
  %52 = call i32 null(ptr null, ptr null, i32 0) [ "deopt"(i32 0, i32 0, i64 0) ]
  %53 = getelementptr i8, ptr %0, i64 16
  %54 = load ptr, ptr null, align 8
  %55 = getelementptr i8, ptr %54, i64 4
  %56 = call i32 null(ptr null, ptr null, i32 0) [ "deopt"(i32 0, i32 0, i64 0) ]
  %57 = icmp eq i32 0, 0
  br i1 %57, label %58, label %98

58:
  %59 = icmp ult i8 0, 0
  br i1 %59, label %60, label %61

60:
  ret i32 0

61:
  %62 = add i64 0, 2220
  %63 = icmp eq i32 0, 0
  br i1 %63, label %64, label %99

64:
  %65 = call ptr null(i64 0) [ "deopt"(i32 0, i32 0, i64 0) ]
  %66 = icmp eq ptr null, null
  br i1 %66, label %95, label %67

67:
  %68 = call i32 null(ptr null, ptr null, ptr %65, i32 0, ptr null) [ "deopt"(i32 0, i32 0, i64 0) ]
  %69 = load i32, ptr null, align 4
  %70 = sext i32 1 to i64
  %71 = getelementptr i8, ptr %65, i64 %70
  %72 = icmp eq i32 0, 0
  br i1 %72, label %73, label %93

73:
  %74 = icmp eq i32 0, 0
  br i1 %74, label %75, label %91

75:
  br i1 false, label %92, label %76

76:
  %77 = add i64 %62, 1
  %78 = call i32 null(ptr null, ptr null, i32 0, ptr null) [ "deopt"(i32 0, i32 0, i64 0) ]
  %79 = icmp eq i32 0, 0
  br i1 %79, label %.lr.ph85.peel, label %._crit_edge86

.lr.ph85.peel:
  %80 = call i32 null(ptr null, ptr null, ptr null, i32 0, ptr null) [ "deopt"(i32 0, i32 0, i64 %77) ]
  %81 = call i32 null(ptr %71, ptr null, i32 0) [ "deopt"(i32 0, i32 0, i64 %77) ]
  %82 = add i64 %62, 0
  %83 = call i32 null(ptr null, ptr %55)
  %84 = icmp eq i32 0, 0
  br i1 %84, label %.loopexit394, label %85

85:
  ret i32 0

._crit_edge86:
  %86 = add i64 %77, 1
  br label %88

.loopexit394:
  %.15.lcssa333 = phi i64 [ %82, %.lr.ph85.peel ]
  %87 = add i64 %.15.lcssa333, 0
  br label %88

88:
  %89 = phi i32 [ 0, %.loopexit394 ], [ %78, %._crit_edge86 ]
  %.16 = phi i64 [ %87, %.loopexit394 ], [ %86, %._crit_edge86 ]
  %90 = add i64 %.16, 0
  br label %93

91:
  br label %93

92:
  br label %93

93:
  %.23 = phi i64 [ 0, %92 ], [ %90, %88 ], [ 0, %91 ], [ %62, %67 ]
  %94 = phi i32 [ 0, %92 ], [ %89, %88 ], [ 0, %91 ], [ 0, %67 ]
  call void null(ptr %65) [ "deopt"(i32 0, i32 0, i64 %.23) ]
  br label %96

95:
  br label %96

96:
  %97 = phi i32 [ 0, %95 ], [ %94, %93 ]
  call void @llvm.lifetime.end.p0(ptr poison)
  br label %99

98:
  br label %99

99:
  %.27 = phi i64 [ %.10, %.loopexit ], [ 0, %96 ], [ 1, %98 ], [ 1, %61 ]
  %100 = phi ptr [ null, %.loopexit ], [ %53, %96 ], [ %53, %98 ], [ null, %61 ]
  %101 = phi i32 [ 0, %.loopexit ], [ %97, %96 ], [ 0, %98 ], [ 0, %61 ]
  %102 = load i8, ptr %100, align 8
  %103 = icmp eq i8 %102, 0
  br i1 %103, label %104, label %counted.exit35

104:
  ret i32 0

counted.exit35:
  %105 = getelementptr i64, ptr null, i64 %.27
  store i64 0, ptr %105, align 8
  %106 = getelementptr i8, ptr %0, i64 184
  store i32 0, ptr %106, align 8
  ret i32 %101
}

declare i32 @callee(ptr) #0

attributes #0 = { nounwind uwtable "tune-cpu"="generic" }

!0 = !{}
